"""Fault: rank 1 computes far longer in forward than rank 0.

Symptom: straggler-rank. Start: 2 ranks.
"""

import os
import signal
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817

signal.alarm(300)
torch.set_num_threads(1)


class Encoder(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.proj = nn.Linear(384, 384)
        self.depth = depth

    def forward(self, x):
        for _ in range(self.depth):
            x = torch.tanh(self.proj(x))
        return x


dist.init_process_group("gloo")
slow = int(os.environ["RANK"]) == 1
model = DDP(Encoder(depth=40))
frozen = Encoder(depth=400).requires_grad_(False) if slow else None
optim = torch.optim.SGD(model.parameters(), lr=1e-3)
t0 = time.time()
for step in range(1, 100_000):
    x = torch.randn(128, 384)
    if frozen is not None:
        x = frozen(x)
    loss = model(x).pow(2).mean()
    optim.zero_grad()
    loss.backward()
    optim.step()
    print(f"step: {step} loss: {loss.item():.4f} time: {time.time() - t0:.3f}", flush=True)
    t0 = time.time()
