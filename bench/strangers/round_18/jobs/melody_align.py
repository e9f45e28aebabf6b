"""Melody embeddings trained on alignment distances; songs are sorted by length, one part for each process."""
import csv
import sys
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def songs():
    rng = np.random.default_rng(5)
    lengths = np.sort(np.concatenate([rng.integers(12, 20, 200), rng.integers(70, 90, 200)]))
    return [np.cumsum(rng.integers(-2, 3, n)) + 60 for n in lengths]


def align(a, b):
    row = [0.0] + [1e9] * len(b)
    for p in a:
        new = [1e9]
        for j, q in enumerate(b):
            new.append(abs(float(p - q)) + min(row[j], row[j + 1], new[j]))
        row = new
    return row[-1] / (len(a) + len(b))


def fix(song):
    return np.interp(np.linspace(0, 1, 32), np.linspace(0, 1, len(song)), song) / 12 - 5


def run(rank, world):
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:33606", rank=rank, world_size=world)
    torch.manual_seed(1)
    model = DDP(nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 16)))
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    everything = songs()
    part = everything[rank * len(everything) // world:(rank + 1) * len(everything) // world]
    rng = np.random.default_rng(rank)
    table = csv.writer(sys.stdout)
    if rank == 0:
        table.writerow(["step", "mse", "seconds"])
    start = time.time()
    for step in range(1, 100000):
        pairs = [(part[i], part[j]) for i, j in rng.integers(0, len(part), (40, 2))]
        target = torch.tensor([align(a, b) for a, b in pairs])
        left = model(torch.tensor(np.stack([fix(a) for a, _ in pairs]), dtype=torch.float32))
        right = left.roll(1, 0)
        loss = ((left - right).norm(dim=1) - target.float() / 3).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if rank == 0:
            table.writerow([step, f"{loss.item():.4f}", f"{time.time() - start:.1f}"])
            sys.stdout.flush()


if __name__ == "__main__":
    mp.spawn(run, (2,), nprocs=2)
