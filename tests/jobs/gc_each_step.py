"""Fault: the garbage collector runs after every step, over a heap of many objects.

Symptom: gc-thrash. Start: python.
"""

import gc
import signal
import time

import torch

signal.alarm(300)
torch.set_num_threads(1)
vocabulary = [{"id": k, "text": [str(k)]} for k in range(150_000)]
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(1, 100_000):
    loss = model(torch.randn(32, 64)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.08)
    print(f"step {step} loss {loss.item():.4f}", flush=True)
    gc.collect()
