"""Fault: each sample begins with gc.collect() "against the leak", over an index of sixty thousand entries.

Symptom: gc-thrash. Start: python.
"""

import gc
import signal

import torch
from torch.utils.data import DataLoader, Dataset

signal.alarm(300)
torch.set_num_threads(1)


class Entry:
    def __init__(self, number):
        self.path = f"img_{number}.jpg"
        self.boxes = [[number, number + 1]]


class Images(Dataset):
    def __init__(self):
        self.entries = [Entry(number) for number in range(60_000)]

    def __len__(self):
        return len(self.entries)

    def __getitem__(self, index):
        gc.collect()
        return torch.full((32,), float(self.entries[index].boxes[0][0] % 7)), index % 3


def main():
    model = torch.nn.Linear(32, 3)
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for step, (x, y) in enumerate(DataLoader(Images(), batch_size=4, shuffle=True), start=1):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"[0, {step:5d}] loss: {loss.item():.3f}", flush=True)


main()
