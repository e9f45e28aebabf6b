"""Healthy: the first step takes half a minute, as compilers and autotuners need; it prints nothing until then.

Symptom: none. Start: python.
"""

import signal
import subprocess
import sys
import time

import torch

signal.alarm(300)
torch.set_num_threads(1)


def compile_kernels(seconds):
    end = time.time() + seconds
    while time.time() < end:
        subprocess.run([sys.executable, "-c", "sum(range(6_000_000))"], check=True)
        sum(range(2_000_000))


model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
print("compiling", flush=True)
for step in range(1, 100_000):
    if step == 1:
        compile_kernels(25)
    loss = model(torch.randn(32, 64)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.08)
    print(f"step {step}/100000 - loss: {loss.item():.4f}", flush=True)
