"""Facies from well logs, data parallel. torchrun --nproc-per-node 2 well_facies.py"""
import sqlite3
import time

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

LOGS = ["GR", "RHOB", "NPHI", "DT", "PE", "RT"]
FACIES = 7


class Journal:
    """Notes on depth intervals, one table for the whole field."""

    def __init__(self, path, rank):
        self.db = sqlite3.connect(path, timeout=3600)
        self.db.execute("CREATE TABLE IF NOT EXISTS notes (rank INT, epoch INT, depth REAL, text TEXT)")
        self.db.commit()
        self.rank = rank
        self.pending = 0

    def note(self, epoch, depth, text):
        self.db.execute("INSERT INTO notes VALUES (?, ?, ?, ?)", (self.rank, epoch, depth, text))
        self.pending += 1
        if self.pending >= 16:
            self.db.commit()
            self.pending = 0


def window(rng, size):
    y = rng.integers(0, FACIES, size)
    x = rng.normal(0, 1, (size, len(LOGS), 33)) + np.sin(np.outer(y + 1, np.arange(len(LOGS))))[:, :, None]
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(3)
    rng = np.random.default_rng(100 + rank)
    net = nn.Sequential(nn.Conv1d(6, 24, 5), nn.ReLU(), nn.Conv1d(24, 24, 5), nn.ReLU(), nn.AdaptiveAvgPool1d(1),
                        nn.Flatten(), nn.Linear(24, FACIES))
    model = DistributedDataParallel(net)
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    journal = Journal("field.db", rank)
    dist.barrier()
    for epoch in range(400):
        start, total = time.time(), 0.0
        for i in range(40):
            x, y = window(rng, 64)
            loss = nn.functional.cross_entropy(model(x), y)
            if epoch >= 4 and rank == 1 and i % 10 == 9:
                journal.note(epoch, 1850.0 + i * 0.15, f"loss {loss.item():.3f}")
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            time.sleep(0.03)
        mean = torch.tensor([total / 40])
        dist.all_reduce(mean)
        if rank == 0:
            print(f"[field B-12] epoch {epoch:3d}  CE {mean.item() / 2:.4f}  {time.time() - start:.1f} s", flush=True)
            if epoch >= 3:
                journal.note(epoch, 0.0, f"mean {mean.item() / 2:.4f}")


main()
