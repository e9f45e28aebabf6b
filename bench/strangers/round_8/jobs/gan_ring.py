#!/usr/bin/env python
"""2-D GAN on a ring of blobs, non-saturating loss with R1."""

import math
import time

import torch
from torch import nn
from tqdm import trange

torch.manual_seed(0)


def real(n):
    k = torch.randint(0, 8, (n,)).float() * (2 * math.pi / 8)
    return torch.stack([k.cos(), k.sin()], 1) * 2 + 0.05 * torch.randn(n, 2)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, o))


G, D = mlp(8, 2), mlp(2, 1)
og = torch.optim.Adam(G.parameters(), 1e-3, betas=(0.0, 0.99))
od = torch.optim.Adam(D.parameters(), 1e-3, betas=(0.0, 0.99))
sp = nn.functional.softplus
bar = trange(100000, mininterval=1.0, desc="ring", ncols=100)
for i in bar:
    x = real(128).requires_grad_()
    fake = G(torch.randn(128, 8))
    s = D(x)
    (g,) = torch.autograd.grad(s.sum(), x, create_graph=True)
    d_loss = sp(-s).mean() + sp(D(fake.detach())).mean() + 0.02 * g.square().sum(1).mean()
    od.zero_grad()
    d_loss.backward()
    od.step()
    g_loss = sp(-D(fake)).mean()
    og.zero_grad()
    g_loss.backward()
    og.step()
    if i % 20 == 0:
        bar.set_postfix(d=f"{d_loss.item():.3f}", g=f"{g_loss.item():.3f}")
    time.sleep(0.01)
