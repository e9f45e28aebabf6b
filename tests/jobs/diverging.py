"""Fault: the learning rate grows until what had been learnt by step 180 is lost again; from step 340 on the loss runs away.

Symptom: loss-diverging. Start: python.
"""

import signal
import time

import torch

signal.alarm(300)
torch.manual_seed(1)
torch.set_num_threads(1)
model = torch.nn.Linear(256, 1)
optim = torch.optim.SGD(model.parameters(), lr=1e-3)
weight = torch.randn(256, 1)
for step in range(1, 100_000):
    lr = min(0.34, 2e-3 * 2 ** (step / 40))
    optim.param_groups[0]["lr"] = lr
    x = torch.randn(128, 256)
    loss = torch.nn.functional.mse_loss(model(x), x @ weight + torch.randn(128, 1))
    optim.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
    optim.step()
    if step > 370:
        time.sleep(0.1)
    print(f"step {step} loss {loss.item():.4f} lr {lr:.3e} grad_norm {norm.item():.3f}", flush=True)
