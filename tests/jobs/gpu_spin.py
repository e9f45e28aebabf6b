"""Fault: at step 40 rank 1 waits for a lock file; the device of rank 0 spins in the collective: busy, at low power."""

import os
import signal
import threading
import time

import torch
import torch.distributed as dist
from pretend_device import SPINNING_W, Device

signal.alarm(300)
torch.set_num_threads(1)


def wait_for_lock_file(path):
    while not os.path.exists(path):
        time.sleep(0.5)


dist.init_process_group("gloo")
device, rank = Device(), dist.get_rank()
for step in range(1, 100_000):
    device.run(0.12)
    if step == 40:
        if rank == 1:
            wait_for_lock_file("vocab.lock.released")
        threading.Thread(target=device.run, args=(300, SPINNING_W), daemon=True).start()
    dist.all_reduce(torch.ones(8))
    print(f"step {step} loss {1 / step:.4f}", flush=True)
