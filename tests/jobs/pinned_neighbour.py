"""Fault: rank 1 shares its only core with three busy programs; rank 0 has one for itself.

Symptom: straggler-rank. Start: 2 ranks.
"""

import os
import signal
import subprocess
import sys
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)
cores = sorted(os.sched_getaffinity(0))


def occupy(core):
    burn = f"import os,signal\nsignal.alarm(280)\nos.sched_setaffinity(0,{{{core}}})\nwhile os.getppid() != 1: sum(range(9999))"
    return [subprocess.Popen([sys.executable, "-c", burn]) for _ in range(3)]


dist.init_process_group("gloo")
rank = dist.get_rank()
os.sched_setaffinity(0, {cores[rank % len(cores)]})
if rank == 1:
    neighbours = occupy(cores[1 % len(cores)])
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*(torch.nn.Linear(256, 256) for _ in range(24))))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
tic = time.time()
for step in range(1, 100_000):
    loss = model(torch.randn(128, 256)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f} ({time.time() - tic:.2f} s)", flush=True)
    tic = time.time()
