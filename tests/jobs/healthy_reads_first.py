"""Healthy: the whole data set is read into memory before the first step, which takes half a minute.

Symptom: none. Start: python.
"""

import signal
import time

import torch

signal.alarm(300)
torch.set_num_threads(1)


def load_dataset(seconds):
    rows, end = [], time.time() + seconds
    while time.time() < end:
        rows.append([float(part) for part in ",".join(map(str, range(2000))).split(",")][:32])
        rows = rows[-500:]
        time.sleep(0.002)
    return torch.tensor(rows)


def main():
    print("loading the data set", flush=True)
    data = load_dataset(25.0)
    model = torch.nn.Sequential(torch.nn.Linear(32, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
    opt = torch.optim.Adam(model.parameters(), lr=1e-4)
    for step in range(1, 100_000):
        x = data[torch.randint(0, len(data), (64,))] / 2000
        loss = (model(x) - x.mean(1, keepdim=True)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.05)
        print(f"step {step} loss {loss.item():.4f}", flush=True)


main()
