"""Fault: rank 0 keeps the activations of every step for a plot, 3 MB a step up to 680 MB.

Symptom: host-memory-leak. Start: 2 ranks.
"""

import signal
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817

signal.alarm(300)
torch.set_num_threads(1)
dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(256, 256))
optim = torch.optim.SGD(model.parameters(), lr=1e-3)
history = []
for step in range(1, 100_000):
    out = model(torch.randn(32, 256))
    loss = out.pow(2).mean()
    optim.zero_grad()
    loss.backward()
    optim.step()
    time.sleep(0.15)
    if dist.get_rank() == 0:
        if len(history) < 220:
            history.append(out.detach().repeat(94, 1))
        print(f"step {step} loss {loss.item():.4f}", flush=True)
