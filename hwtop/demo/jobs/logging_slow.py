"""Fault: every step hands its metrics to a log handler that sends them over a slow link.

Symptom: logging-overhead. Start: python.
"""

import logging
import signal
import time

import torch

signal.alarm(300)
torch.set_num_threads(1)


class RemoteHandler(logging.Handler):
    def emit(self, record):
        self.send(self.format(record))

    def send(self, text):
        time.sleep(0.05)


log = logging.getLogger("metrics")
log.setLevel(logging.INFO)
log.addHandler(RemoteHandler())
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(1, 100_000):
    loss = model(torch.randn(32, 64)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.05)
    log.info("loss %s", loss.item())
    if step % 5 == 0:
        print(f"step {step} loss {loss.item():.4f}", flush=True)
