"""Fault: both ranks were bound to the first core that the job may use; the machine has more.

Symptom: cpu-oversubscribed. Start: 2 ranks.
"""

import os
import signal
import time

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

signal.alarm(300)
torch.set_num_threads(1)
dist.init_process_group("gloo")
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*(torch.nn.Linear(256, 256) for _ in range(8))))
sgd = torch.optim.SGD(net.parameters(), lr=1e-3)
tic = time.time()
for step in range(1, 100_000):
    loss = net(torch.randn(256, 256)).pow(2).mean()
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    print(f"step {step} loss {loss.item():.4f} ({time.time() - tic:.2f} s)", flush=True)
    tic = time.time()
