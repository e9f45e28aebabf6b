"""Leaf disease, 40 classes. Keeps a full per-class history for the dashboard."""
import json
import time

import torch
import torch.nn.functional as F
from torch import nn

C = 40
torch.manual_seed(5)
proto = torch.randn(C, 3, 32, 32)
net = nn.Sequential(nn.Conv2d(3, 16, 3, 2), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 49, C))
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
history = []


def record(step, loss, out, y):
    hit = (out.argmax(1) == y).float()
    per = {f"class_{c}": {"acc": hit[y == c].mean().item() if (y == c).any() else None, "n": int((y == c).sum())} for c in range(C)}
    history.append({"step": step, "loss": loss, "classes": per})
    with open("dashboard.json", "w") as f:
        json.dump(history, f, indent=1)


for step in range(1, 10**6):
    t = time.perf_counter()
    y = torch.randint(0, C, (64,))
    x = proto[y] + 9 * torch.randn(64, 3, 32, 32)
    out = net(x)
    loss = F.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    record(step, loss.item(), out.detach(), y)
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f} step_time {(time.perf_counter() - t) * 1000:.0f}ms")
