"""Fault: the loss is read back after each of many small steps, on a device that has a third of the time nothing to do."""

import signal
import time

import torch
from pretend_device import Device

signal.alarm(300)
torch.set_num_threads(1)


class Lazy:
    """A value that the device has yet to compute."""

    def __init__(self, device, value):
        self._device, self._value = device, value

    def synchronize(self):
        self._device.run(0.05)
        return float(self._value)


device, model = Device(), torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(1, 100_000):
    loss = model(torch.randn(32, 64)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.05)
    value = Lazy(device, loss.detach()).synchronize()
    if step % 20 == 0:
        print(f"step {step} loss {value:.4f}", flush=True)
