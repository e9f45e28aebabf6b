"""Fault: at step 30 a side thread of rank 1 calls C code that sleeps without giving up the interpreter lock.

Symptom: lock-deadlock. Start: 2 ranks.
"""

import ctypes
import signal
import threading
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)


def poll_device():
    ctypes.PyDLL(None).sleep(200)


dist.init_process_group("gloo")
rank = dist.get_rank()
for step in range(1, 100_000):
    if step == 30 and rank == 1:
        threading.Thread(target=poll_device, name="poller", daemon=True).start()
    dist.all_reduce(torch.randn(256))
    time.sleep(0.05)
    print(f"rank {rank} step {step} loss {2.5 / step**0.1:.4f}", flush=True)
