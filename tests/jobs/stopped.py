"""Fault: rank 1 stops itself at step 30, as a stray kill -STOP or a debugger would.

Symptom: rank-stopped. Start: 2 ranks.
"""

import os
import signal
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)
dist.init_process_group("gloo")
w = torch.zeros(128)
for step in range(1, 100_000):
    grad = torch.randn(128)
    dist.all_reduce(grad)
    w -= 0.01 * grad / dist.get_world_size()
    time.sleep(0.1)
    print(f"step {step}/100000 loss {2.5 / step**0.1:.4f}", flush=True)
    if step == 30 and dist.get_rank() == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
