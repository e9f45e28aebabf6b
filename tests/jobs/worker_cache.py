"""Fault: each loader worker keeps every sample that it ever decoded, 4 MB a batch up to 600 MB.

Symptom: host-memory-leak. Start: python.
"""

import signal
import time

import torch
from torch.utils.data import DataLoader, Dataset

signal.alarm(300)
torch.set_num_threads(1)


class Cached(Dataset):
    def __init__(self):
        self.cache = {}

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        if len(self.cache) < 300:
            self.cache[index] = torch.ones(250_000)
        return torch.randn(64)


def main():
    model = torch.nn.Linear(64, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step, x in enumerate(DataLoader(Cached(), batch_size=4, num_workers=2, shuffle=False), 1):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.15)
        print(f"step {step} | loss {loss.item():.4f}", flush=True)


main()
