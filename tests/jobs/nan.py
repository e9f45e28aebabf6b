"""Fault: a batch of step 40 holds an infinite value, so the weights and the loss are nan from then on.

Symptom: loss-nan. Start: 2 ranks.
"""

import signal
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817

signal.alarm(300)
torch.set_num_threads(1)
dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(64, 1))
optim = torch.optim.SGD(model.parameters(), lr=1e-2)
for step in range(1, 100_000):
    x = torch.randn(32, 64)
    if step == 40:
        x[0, 0] = float("inf")
    loss = model(x).pow(2).mean()
    optim.zero_grad()
    loss.backward()
    optim.step()
    time.sleep(0.1)
    if dist.get_rank() == 0:
        print(f"{{'loss': '{loss.item():.4g}', 'learning_rate': '0.01', 'step': {step}}}", flush=True)
