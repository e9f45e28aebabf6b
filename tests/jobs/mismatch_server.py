"""Fault: at step 8 rank 1 saves a checkpoint while rank 0 trains on. Each rank serves torch's debug handlers on a socket."""

import os
import signal
import time

import torch
import torch.distributed as dist
from torch.distributed.elastic.control_plane import worker_main

signal.alarm(300)
torch.set_num_threads(1)


def train_step():
    dist.all_reduce(torch.ones(1024))


def save_checkpoint():
    dist.broadcast(torch.ones(8), src=0)


def train():
    rank = dist.get_rank()
    for step in range(1, 100_000):
        if step == 8 and rank == 1:
            save_checkpoint()
        train_step()
        time.sleep(0.05)
        print(f"rank {rank} step {step:>6d} | loss 1.0", flush=True)


os.environ["TORCH_WORKER_SERVER_SOCKET"] += os.environ["RANK"]
with worker_main():
    dist.init_process_group("gloo")
    train()
