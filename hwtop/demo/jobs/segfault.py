"""Fault: an extension of rank 1 reads where there is no memory.

Symptom: segfault. Start: 2 ranks.
"""

import ctypes
import faulthandler
import os
import signal
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)
faulthandler.enable()
dist.init_process_group("gloo")
for step in range(1, 100_000):
    x = torch.ones(8)
    dist.all_reduce(x)
    time.sleep(0.1)
    print(f"step {step} loss {1 / step:.4f}", flush=True)
    if step == 60 and os.environ["RANK"] == "1":
        ctypes.string_at(8)
