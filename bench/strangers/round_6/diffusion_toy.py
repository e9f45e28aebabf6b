"""Denoising diffusion on 2-d swiss rolls, with optional previews during training."""

import os
import time

import torch
from torch import nn
from tqdm import tqdm

torch.set_num_threads(1)
T = 100
EMA_FROM = int(os.environ.get("EMA_FROM", "100000"))
EMA_COPIES = int(os.environ.get("EMA_COPIES", "1"))
PREVIEW = int(os.environ.get("PREVIEW", "0"))
betas = torch.linspace(1e-4, 0.05, T)
abar = torch.cumprod(1 - betas, 0)


class Eps(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(T, 64)
        self.inp = nn.Linear(2, 64)
        self.body = nn.Sequential(nn.SiLU(), nn.Linear(64, 256), nn.SiLU(), nn.Linear(256, 256), nn.SiLU())
        self.out = nn.Linear(256, 2)

    def forward(self, x, t):
        return self.out(self.body(self.inp(x) + self.time(t)))


def roll(n):
    a = 1.5 * 3.14159 * (1 + 2 * torch.rand(n))
    return torch.stack([a * a.cos(), a * a.sin()], 1) / 8


@torch.no_grad()
def preview(net, n=400):
    x = torch.randn(n, 2)
    for t in reversed(range(T)):
        e = net(x, torch.full((n,), t))
        x = (x - betas[t] / (1 - abar[t]).sqrt() * e) / (1 - betas[t]).sqrt()
        x += betas[t].sqrt() * torch.randn_like(x) if t else 0
    torch.save(x, "preview.pt")


@torch.no_grad()
def update_ema(shadow, net, decays):
    for s, d in zip(shadow, decays, strict=True):
        for a, b in zip(s.parameters(), net.parameters(), strict=True):
            for row_a, row_b in zip(a.view(-1, a.shape[-1]), b.view(-1, b.shape[-1]), strict=True):
                row_a.mul_(d).add_(row_b, alpha=1 - d)


net = Eps()
shadow = [Eps() for _ in range(EMA_COPIES)]
decays = [1 - 10.0 ** -(1 + i / 4) for i in range(EMA_COPIES)]
opt = torch.optim.AdamW(net.parameters(), 1e-3)
bar = tqdm(range(1, 500_001), mininterval=0.5, desc="diffusion")
for step in bar:
    x0, t, e = roll(256), torch.randint(T, (256,)), torch.randn(256, 2)
    a = abar[t][:, None]
    loss = (net(a.sqrt() * x0 + (1 - a).sqrt() * e, t) - e).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step >= EMA_FROM:
        update_ema(shadow, net, decays)
    time.sleep(0.03)
    if step % 10 == 0:
        bar.set_postfix(loss=f"{loss.item():.4f}", step=step)
    if PREVIEW and step % PREVIEW == 0:
        preview(net)
