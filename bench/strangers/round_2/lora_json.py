"""Adapter fine-tuning with a dynamic loss scale; one JSON object per step on stdout."""
import json
import math
import os
import sys
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(11)
CASE = os.environ.get("RUN", "good")


class Adapted(nn.Module):
    def __init__(self, d=160, r=8):
        super().__init__()
        self.base = nn.ModuleList(nn.Linear(d, d) for _ in range(6))
        self.a = nn.ParameterList(nn.Parameter(torch.randn(d, r) / d**0.5) for _ in range(6))
        self.b = nn.ParameterList(nn.Parameter(torch.zeros(r, d)) for _ in range(6))
        self.head = nn.Linear(d, 20)
        for p in self.base.parameters():
            p.requires_grad_(False)

    def forward(self, x):
        for w, a, b in zip(self.base, self.a, self.b):
            x = x + torch.tanh(w(x) + x @ a @ b)
        return self.head(x)


net = Adapted()
if CASE == "frozen":
    for p in [*net.a, *net.b, *net.head.parameters()]:
        p.requires_grad_(False)
    probe = nn.Parameter(torch.zeros(1))  # the list given to the optimizer was built before the adapters were added
    train = [probe]
else:
    probe, train = None, [p for p in net.parameters() if p.requires_grad]
opt = torch.optim.AdamW(train, lr=1e-3)
teacher = torch.randn(160, 20)
scale, good = 65536.0, 0
limit = 4096.0  # gradients over this overflow in half precision
for step in range(1_000_000):
    t0 = time.time()
    x = torch.randn(32, 160)
    y = (x @ teacher).argmax(1)
    if CASE == "bad_shard" and step >= 260:
        y = (y * 7 + torch.randint(0, 20, y.shape)) % 20  # label column of shard 3 belongs to another task
    out = net(x)
    loss = nn.functional.cross_entropy(out, y)
    if probe is not None:
        loss = loss + 0 * probe.sum()
    opt.zero_grad()
    (loss * scale).backward()
    norm = math.sqrt(sum(float((p.grad / scale).norm() ** 2) for p in train if p.grad is not None))
    drift = 1.0
    if CASE == "scale" and step > 150:
        drift = 1.35 ** (step - 150)  # an activation grows without bound in half precision
    overflow = norm * scale * drift / 4 > limit * 4
    if overflow:
        scale /= 2
        good = 0
        print(f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {scale}", file=sys.stderr, flush=True)
    else:
        for p in train:
            if p.grad is not None:
                p.grad /= scale
        opt.step()
        good += 1
        if good == 1000:
            scale, good = scale * 2, 0
    print(json.dumps({"step": step, "loss": round(loss.item(), 4), "grad_norm": round(norm, 4), "loss_scale": scale, "skipped": bool(overflow),
                      "tokens_per_sec": round(32 / (time.time() - t0), 1)}), flush=True)
    time.sleep(0.03)
