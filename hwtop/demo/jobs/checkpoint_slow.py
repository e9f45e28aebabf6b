"""Fault: a checkpoint every 20 steps, to a storage that takes more than a second for it.

Symptom: checkpoint-stall. Start: python.
"""

import io
import signal
import time

import torch

signal.alarm(300)
torch.set_num_threads(1)


class SlowStorage(io.FileIO):
    """Accepts 8 MB/s."""

    def write(self, data):
        time.sleep(len(data) / 8e6)
        return super().write(data)


model = torch.nn.Sequential(torch.nn.Linear(64, 1500), torch.nn.Linear(1500, 1500), torch.nn.Linear(1500, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(1, 100_000):
    loss = model(torch.randn(4, 64)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.05)
    print(f"step {step} loss {loss.item():.4f}", flush=True)
    if step % 20 == 0:
        torch.save(model.state_dict(), SlowStorage("last.pt", "w"))
