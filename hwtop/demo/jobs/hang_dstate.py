"""Fault: at step 30 rank 1 reads its shard through a reader that waits in D state: a vfork() whose child does not go on.

The kernel keeps the parent of a vfork() in uninterruptible sleep, as it would a reader of a dead disk.

Symptom: rank-d-state. Start: 2 ranks.
"""

import ctypes
import signal
import subprocess
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)

READER = r"""
#include <unistd.h>
int read_shard(void) {
    if (vfork() == 0) {
        sleep(200);
        _exit(0);
    }
    return 0;
}
"""


def build_reader():
    subprocess.run(
        ["gcc", "-O1", "-shared", "-fPIC", "-x", "c", "-o", "reader.so", "-"], input=READER.encode(), check=True
    )
    return ctypes.CDLL("./reader.so")


def next_shard(reader):
    return reader.read_shard()


def train():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    reader = build_reader() if rank == 1 else None
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 1))
    for step in range(1, 100_000):
        if step == 30 and rank == 1:
            next_shard(reader)
        model.zero_grad()
        model(torch.randn(32, 64)).pow(2).mean().backward()
        dist.all_reduce(torch.ones(1))
        time.sleep(0.05)
        print(f"[rank{rank}] step {step} loss {2.5 / step**0.1:.4f}", flush=True)


train()
