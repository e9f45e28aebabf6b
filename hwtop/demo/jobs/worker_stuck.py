"""Fault: a loader worker takes a lock that a thread of the parent held when the worker was forked. Nobody will release it.

Symptom: dataloader-worker-stuck. Start: python.
"""

import signal
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

signal.alarm(300)
torch.set_num_threads(1)
INDEX_LOCK = threading.Lock()


def refresh_index():
    with INDEX_LOCK:
        time.sleep(250)


class Images(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, i):
        if i == 201:
            return self.look_up(i)
        time.sleep(0.01)
        return torch.randn(16)

    def look_up(self, i):
        with INDEX_LOCK:
            return torch.randn(16)


def main():
    threading.Thread(target=refresh_index, daemon=True).start()
    model = torch.nn.Linear(16, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step, x in enumerate(DataLoader(Images(), batch_size=8, num_workers=2), 1):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
