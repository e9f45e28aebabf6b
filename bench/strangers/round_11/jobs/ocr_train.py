"""Digit reader. Resumes from ckpt/last.pt when there is one."""
import os
import time

import torch
import torch.nn as nn

torch.manual_seed(0)
os.makedirs("ckpt", exist_ok=True)
model = nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
start = 0
if os.path.exists("ckpt/last.pt"):
    print("resuming from ckpt/last.pt", flush=True)
    state = torch.load("ckpt/last.pt")
    model.load_state_dict(state["model"])
    opt.load_state_dict(state["opt"])
    start = state["step"]
protos = torch.randn(10, 28, 28)
t0 = time.time()
for step in range(start + 1, 1_000_000):
    y = torch.randint(0, 10, (128,))
    x = protos[y] + torch.randn(128, 28, 28) * 11
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(f"step={step} loss={loss.item():.4f} {step / (time.time() - t0):.0f} it/s", flush=True)
    if step % 400 == 0:
        torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "step": step}, "ckpt/last.pt")
        print("checkpoint written", flush=True)
