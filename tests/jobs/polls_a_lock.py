"""Fault: rank 1 asks twenty times a second whether a lock file of an earlier run is gone; rank 0 is in the rendezvous.

Symptom: rank-missing-from-collective. Start: 2 ranks.
"""

import os
import pathlib
import signal
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)


def take(lock):
    while lock.exists():
        time.sleep(0.05)
    lock.touch()


print("starting", flush=True)
if int(os.environ["RANK"]) == 1:
    left = pathlib.Path("index.lock")
    left.touch()
    take(left)
dist.init_process_group("gloo")
dist.barrier()
