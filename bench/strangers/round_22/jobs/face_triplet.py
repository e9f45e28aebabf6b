"""Metric learning on a long-tailed set of identities (synthetic stand-in for our badge photos)."""
import json
import random
import time

import numpy as np
import torch
from torch import nn

SEED = 11
IDENTITIES = 900
BATCH = 64
MARGIN = 0.4

rng = np.random.default_rng(SEED)
random.seed(SEED)
torch.manual_seed(SEED)


def build():
    counts = np.minimum(rng.zipf(1.6, IDENTITIES), 40)
    images, owners = [], []
    for who, n in enumerate(counts):
        base = rng.normal(size=(3, 8, 8)).repeat(5, 1).repeat(5, 2)
        for _ in range(n):
            images.append(base + 0.6 * rng.normal(size=base.shape))
            owners.append(who)
    return torch.tensor(np.array(images), dtype=torch.float32), np.array(owners)


class Net(nn.Module):
    def __init__(self, width=40, out=96):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, width, 3, 2, 1), nn.GroupNorm(8, width), nn.SiLU(),
            nn.Conv2d(width, width * 2, 3, 2, 1), nn.GroupNorm(8, width * 2), nn.SiLU(),
            nn.Conv2d(width * 2, width * 4, 3, 2, 1), nn.GroupNorm(8, width * 4), nn.SiLU(),
        )
        self.head = nn.Linear(width * 4, out)

    def forward(self, x):
        return nn.functional.normalize(self.head(self.features(x).mean((2, 3))).float(), dim=1)


def distance(a, b):
    return torch.sqrt(((a - b) ** 2).sum(1))


images, owners = build()
by_owner = {w: np.flatnonzero(owners == w) for w in np.unique(owners)}
people = list(by_owner)


def triplets(n):
    a, p, q = [], [], []
    for who in random.sample(people, n):
        i = random.choice(by_owner[who])
        j = random.choice([k for k in by_owner[who] if k != i] or [i])
        other = random.choice(people)
        while other == who:
            other = random.choice(people)
        a.append(i), p.append(j), q.append(random.choice(by_owner[other]))
    return images[a], images[p], images[q]


net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=4e-4)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
skipped = 0
print(json.dumps({"event": "config", "images": len(images), "identities": len(people), "margin": MARGIN, "amp": "bf16"}))
for step in range(1, 100000):
    t0 = time.perf_counter()
    a, p, q = triplets(BATCH)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        za, zp, zq = net(torch.cat([a, p, q])).chunk(3)
    loss = torch.relu(distance(za, zp) - distance(za, zq) + MARGIN).mean()
    opt.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    before = scaler.get_scale()
    scaler.step(opt)
    scaler.update()
    if scaler.get_scale() < before:
        skipped += 1
        if scaler.get_scale() < 1:
            scaler.update(1.0)
    if step % 5 == 0:
        print(json.dumps({"event": "train", "step": step, "loss": round(loss.item(), 5), "amp_scale": scaler.get_scale(),
                          "skipped": skipped, "sec": round(time.perf_counter() - t0, 3)}))
