"""Healthy: accelerate with gradient accumulation over eight batches; only each eighth step syncs and logs.

Symptom: none. Start: python.
"""

import signal
import time

import torch
from accelerate import Accelerator

signal.alarm(300)
torch.set_num_threads(1)


def main():
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=8)
    model = torch.nn.Linear(64, 8)
    model, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=1e-3))
    completed = 0
    for _ in range(100_000):
        with accelerator.accumulate(model):
            loss = model(torch.randn(16, 64)).pow(2).mean()
            accelerator.backward(loss)
            time.sleep(0.06)
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            completed += 1
            accelerator.print(f"completed_steps: {completed} loss: {loss.item():.4f}", flush=True)


main()
