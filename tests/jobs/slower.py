"""Fault: from step 120 on each step takes half as long again, as when a neighbour comes; saves each 40 steps, evaluates each 100.

Symptom: throughput-drop. Start: python.
"""

import signal
import time

import torch

signal.alarm(300)
torch.set_num_threads(1)
model = torch.nn.Linear(64, 1)
optim = torch.optim.SGD(model.parameters(), lr=1e-2)
told = time.perf_counter()
for step in range(1, 100_000):
    loss = model(torch.randn(32, 64)).pow(2).mean()
    optim.zero_grad()
    loss.backward()
    optim.step()
    time.sleep(0.04 if step < 120 else 0.06)
    if step % 40 == 0:
        time.sleep(0.3)
    if step % 100 == 0:
        time.sleep(1.0)
    now = time.perf_counter()
    print(f"step {step}: loss {loss.item():.4f}, time {1000 * (now - told):.1f}ms", flush=True)
    told = now
