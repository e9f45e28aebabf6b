"""Fault: every step reads its loss back. A value that takes 50 ms to come stands in for a device; run it with a fake GPU."""

import signal
import time
from functools import partial

import torch

signal.alarm(300)
torch.set_num_threads(1)


class DeviceValue:
    def __init__(self, value):
        self.value = value
        self.item = partial(time.sleep, 0.05)  # in C, like the wait for a device: no Python frame of its own


model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(1, 100_000):
    loss = model(torch.randn(32, 64)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.03)
    DeviceValue(loss).item()
    if step % 10 == 0:
        print(f"step {step} loss {float(loss):.4f}", flush=True)
