"""Fault: the loss is read back after each of many small steps, on a device that has half of the time nothing to do."""

import signal
import time

import torch
from pretend_device import Device

signal.alarm(300)
torch.set_num_threads(1)


class Lazy:
    """A value that the device has yet to compute; `item` waits for it in C, as a tensor's does."""

    def __init__(self, is_running):
        self.item = is_running.acquire


device, model = Device(), torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(1, 100_000):
    loss = model(torch.randn(32, 64)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.04)
    Lazy(device.launch(0.05)).item()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}", flush=True)
