"""Fault: at step 30 rank 0 opens a FIFO for its checkpoint, and nobody reads from it; rank 1 waits for it.

Symptom: rank-missing-from-collective. Start: 2 ranks.
"""

import os
import pathlib
import signal
import tempfile
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)


def save_checkpoint(weight, folder):
    path = pathlib.Path(folder) / "weights.bin"
    os.mkfifo(path)
    with path.open("wb") as sink:
        torch.save(weight, sink)


def train(folder):
    dist.init_process_group("gloo")
    rank, weight = dist.get_rank(), torch.zeros(256)
    for step in range(1, 100_000):
        grad = torch.randn(256)
        dist.all_reduce(grad)
        weight -= 0.01 * grad
        time.sleep(0.05)
        if rank == 0:
            print(f"step {step} loss {2.5 / step**0.1:.4f}", flush=True)
        if step == 30 and rank == 0:
            save_checkpoint(weight, folder)


with tempfile.TemporaryDirectory() as folder:
    train(folder)
