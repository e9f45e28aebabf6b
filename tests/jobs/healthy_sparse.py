"""Healthy: nanoGPT-like, logs each 50 steps only.

Symptom: none. Start: 2 ranks.
"""

import signal
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

signal.alarm(300)
torch.set_num_threads(1)
dist.init_process_group("gloo")
master_process = dist.get_rank() == 0
model = DistributedDataParallel(
    torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.Linear(512, 1))
)
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4)

iter_num, t0 = 0, time.time()
while True:
    X, Y = torch.randn(16, 256), torch.randn(16, 1)
    loss = ((model(X) - Y) ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    time.sleep(0.12)
    if iter_num % 50 == 0 and master_process:
        dt, t0 = time.time() - t0, time.time()
        print(f"iter {iter_num}: loss {loss.item():.4f}, time {dt / 50 * 1000:.2f}ms, mfu 31.20%", flush=True)
    iter_num += 1
