"""Healthy: two ranks next to a job of somebody else that computes on all cores as well (started here, but not theirs).

Symptom: none. Start: 2 ranks.
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
BURN = "import signal\nsignal.alarm(45)\nwhile True: sum(range(9999))"


def come_neighbours():
    """In a session of their own, adopted by init: nothing joins them to this job but the hour."""
    for _ in range(os.cpu_count() or 1):
        nest = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BURN!r}], start_new_session=True)"
        subprocess.run([sys.executable, "-c", nest], check=True, cwd="/", env={})


dist.init_process_group("gloo")
if dist.get_rank() == 0:
    come_neighbours()
dist.barrier()
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*(torch.nn.Linear(128, 128) for _ in range(6))))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(1, 100_000):
    loss = model(torch.randn(32, 128)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.08)
    print(f"step {step} loss {loss.item():.4f}", flush=True)
