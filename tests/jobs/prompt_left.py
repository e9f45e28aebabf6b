"""Fault: after the third epoch it asks whether to overwrite a checkpoint, and nobody sits at its terminal.

Symptom: hang. Start: python.
"""

import os
import signal
import time

import torch

signal.alarm(300)
torch.set_num_threads(1)
os.dup2(os.pipe()[0], 0)  # as below tmux: open, and nobody types

weight = torch.zeros(64, 64, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.5)
for epoch in range(1, 1000):
    for _ in range(8):
        x = torch.randn(128, 64)
        loss = (x @ weight - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.1)
    print(f"epoch {epoch:03d}  train {loss.item():.5f}", flush=True)
    if epoch == 3 and input("best.pt exists. Overwrite it? [y/N] ").strip().lower() != "y":
        break
