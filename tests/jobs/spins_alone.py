"""Fault: at step 30 rank 1 looks for a split that does not exist and computes for ever; the others wait in all_reduce.

Symptom: rank-missing-from-collective. Start: 2 ranks.
"""

import signal
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)


def find_split(seed, parts):
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        even = sum(1 for n in range(50) if n % 2 == 0)
        if state % parts == parts and even:
            return state


def train():
    dist.init_process_group("gloo")
    rank, weight = dist.get_rank(), torch.zeros(256)
    for step in range(1, 100_000):
        if step == 30 and rank == 1:
            find_split(step, 8)
        grad = torch.randn(256)
        dist.all_reduce(grad)
        weight -= 0.01 * grad
        time.sleep(0.05)
        if rank == 0:
            print(f"step {step} loss {2.5 / step**0.1:.4f}", flush=True)


train()
