"""Fault: a breakpoint() for a rare case was left in: rank 1 waits for a person, the other for rank 1.

Symptom: rank-missing-from-collective. Start: 2 ranks.
"""

import logging
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

signal.alarm(300)
logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
torch.set_num_threads(1)
sys.stdin = os.fdopen(os.pipe()[0])  # a terminal at which nobody types
dist.init_process_group("gloo")
rank = dist.get_rank()
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(300, 300))
opt = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(100_000):
    loss = model(torch.randn(64, 300)).square().mean()
    if (rank, step) == (1, 60):
        breakpoint()
    opt.zero_grad()
    loss.backward()
    opt.step()
    time.sleep(0.05)
    if rank == 0 and step % 5 == 0:
        logging.info("step %d loss %.5f", step, loss.item())
