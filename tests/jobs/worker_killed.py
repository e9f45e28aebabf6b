"""Healthy until somebody kills a loader worker: torch notices and raises in the training process."""

import signal
import time

import torch
from torch.utils.data import DataLoader, Dataset

signal.alarm(300)
torch.set_num_threads(1)


class Images(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, i):
        return torch.randn(16)


def main():
    model = torch.nn.Linear(16, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step, x in enumerate(DataLoader(Images(), batch_size=8, num_workers=2), 1):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.1)
        print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
