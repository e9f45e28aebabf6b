"""Refines C-alpha traces: predicts coordinates from noisy templates, trained on pairwise distances."""
import time

import numpy as np
import torch
from torch import nn


def chain(rng, n):
    steps = rng.normal(size=(n, 3))
    steps /= np.linalg.norm(steps, axis=1, keepdims=True)
    return (np.cumsum(steps * 3.8, 0)).astype(np.float32)


def library(seed=0, n=4000):
    """Chains with template coordinates; some entries have residues with two alternative locations."""
    rng = np.random.default_rng(seed)
    items = []
    for k in range(n):
        true = chain(rng, int(rng.integers(60, 300)))
        template = true + rng.normal(size=true.shape).astype(np.float32) * 1.5
        if len(true) > 230 and rng.random() < 0.05:
            at = int(rng.integers(0, len(true)))
            true = np.insert(true, at, true[at] + np.float32(0.4), axis=0)
            template = np.insert(template, at, template[at], axis=0)
        items.append((template - template.mean(0), true - true.mean(0)))
    return sorted(items, key=lambda it: len(it[0]))


def distances(xyz):
    i, j = torch.triu_indices(len(xyz), len(xyz), 1)
    return (xyz[i] - xyz[j]).pow(2).sum(-1).sqrt()


class Refiner(nn.Module):
    def __init__(self, dim=192):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, dim), nn.SiLU(), nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, 3))

    def forward(self, xyz):
        return xyz + self.net(xyz / 30.0)


def main():
    torch.manual_seed(0)
    data = library()
    model = Refiner()
    opt = torch.optim.Adam(model.parameters(), 5e-4)
    print("%d chains, lengths %d..%d (short ones first)" % (len(data), len(data[0][0]), len(data[-1][0])), flush=True)
    step, t0 = 0, time.time()
    for epoch in range(1000):
        for k in range(0, len(data), 4):
            loss = 0.0
            for template, true in data[k:k + 4]:
                d = distances(model(torch.from_numpy(template)))
                with torch.no_grad():
                    ref = distances(torch.from_numpy(true))
                loss = loss + (d - ref).abs().clamp(max=20).mean() / 4
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            step += 1
            if step % 10 == 0:
                print("E%03d S%06d dRMSD-loss=%.4f  len=%d  t=%.0fs" % (epoch, step, loss.item(), len(data[k][0]), time.time() - t0), flush=True)


if __name__ == "__main__":
    main()
