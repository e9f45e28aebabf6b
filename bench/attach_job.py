"""The job of attach_cost.py: one rank of a small DDP training over gloo that notes the time of each step.

In each step it waits a little, as for a device: ranks that fill every core of the machine would lose what hwtop takes
whatever hwtop does, and training on accelerators leaves cores free.

RANK=.. WORLD_SIZE=.. MASTER_ADDR=.. MASTER_PORT=.. python attach_job.py STEPS_FILE EXTRA_THREADS
"""

from __future__ import annotations

import signal
import struct
import sys
import threading
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

WIDTH = 384
DEVICE_S = 0.01


def main() -> None:
    signal.alarm(1800)
    torch.set_num_threads(1)
    for _ in range(int(sys.argv[2])):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Sequential(*[torch.nn.Linear(WIDTH, WIDTH) for _ in range(8)]))
    optimizer = torch.optim.AdamW(model.parameters())
    with open(sys.argv[1], "ab", buffering=0) as steps:
        while True:
            loss = model(torch.randn(64, WIDTH)).pow(2).mean()
            time.sleep(DEVICE_S)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps.write(struct.pack("d", time.monotonic()))


if __name__ == "__main__":
    main()
