"""Fault: every batch has another length, and each length is compiled anew.

Symptom: recompile-storm. Start: python.
"""

import signal
import time

import torch

signal.alarm(300)
torch.set_num_threads(1)
torch._dynamo.config.recompile_limit = 100_000
torch._dynamo.config.accumulated_recompile_limit = 100_000

layers = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.GELU()) for _ in range(6)])
model = torch.compile(layers, backend="aot_eager", dynamic=False)
optimizer = torch.optim.SGD(layers.parameters(), lr=1e-3)
for step in range(1, 100_000):
    loss = model(torch.randn(step + 7, 32)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.1)
    print(f"step {step} loss {loss.item():.4f}", flush=True)
