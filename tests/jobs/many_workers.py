"""Fault: eight loader workers decode in pure Python on the one core that the job has.

Symptom: dataloader-oversubscribed. Start: python.
"""

import os
import signal

import torch
from torch.utils.data import DataLoader, Dataset

signal.alarm(300)
torch.set_num_threads(1)
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])


class Rows(Dataset):
    """A row takes some milliseconds."""

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        row = [(index * i + 7) % 255 / 255.0 for i in range(20_000)]
        return torch.tensor(row[:64])


if __name__ == "__main__":
    model = torch.nn.Linear(64, 1)
    optim = torch.optim.SGD(model.parameters(), lr=1e-2)
    for step, x in enumerate(DataLoader(Rows(), batch_size=16, num_workers=8), 1):
        loss = model(x).pow(2).mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
        print(f"step {step} loss {loss.item():.4f}", flush=True)
