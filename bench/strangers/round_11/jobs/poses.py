import argparse
import os
import time

import torch
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("--width", type=int, default=96)
ap.add_argument("--steps", type=int, default=10 ** 6)
a = ap.parse_args()
net = nn.Sequential(nn.Linear(34, a.width), nn.Mish(), nn.Linear(a.width, a.width), nn.Mish(), nn.Linear(a.width, 51))
opt = torch.optim.RAdam(net.parameters(), 1e-3)
first = 0
if os.path.exists("poses_last.pt"):
    print("resume from poses_last.pt")
    state = torch.load("poses_last.pt")
    net.load_state_dict(state["net"])
    opt.load_state_dict(state["opt"])
    first = state["step"]
proj = torch.randn(51, 34, generator=torch.Generator().manual_seed(0)) / 7
for step in range(first, first + a.steps):
    pose = torch.randn(128, 51)
    loss = (net(pose @ proj) - pose).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(f"step {step} mpjpe {loss.item():.4f}")
        time.sleep(0.1)
torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "step": first + a.steps}, "poses_last.pt")
