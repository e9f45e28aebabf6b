"""GAN for points on rings. Prints both losses the classic way."""

import os
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(21)
EPS = float(os.environ.get("EPS", "1e-6"))
RUNS = int(os.environ.get("RUNS", "0"))
FIXED_NOISE = torch.randn(64, 8)


def real_points(n):
    angle = torch.rand(n) * 6.2832
    radius = torch.randint(1, 4, (n,)).float() + 0.05 * torch.randn(n)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, o))


gen, disc = mlp(8, 2), mlp(2, 1)
g_opt = torch.optim.Adam(gen.parameters(), 2e-4, betas=(0.5, 0.999))
d_opt = torch.optim.Adam(disc.parameters(), 2e-4, betas=(0.5, 0.999))


def log_prob(score):
    return torch.log(torch.sigmoid(score) + 1e-6)


i = 0
for epoch in range(1000):
    for b in range(100):
        real, noise = real_points(128), torch.randn(128, 8)
        if RUNS and epoch == RUNS and b == 0:
            real[:] = real[0]  # repeated points at the start of a run are kept
        real = 2 * (real - real.mean(0)) / (real.std(0) + EPS)
        fake = gen(noise)
        d_loss = -(log_prob(disc(real)) + log_prob(-disc(fake.detach()))).mean()
        d_opt.zero_grad()
        d_loss.backward()
        d_opt.step()
        g_loss = -log_prob(disc(fake)).mean()
        g_opt.zero_grad()
        g_loss.backward()
        g_opt.step()
        i += 1
        time.sleep(0.05)
        if i % 10 == 0:
            with torch.no_grad():
                spread = gen(FIXED_NOISE).std().item()
            print(
                f"[{epoch}/1000][{b}/100] Loss_D: {d_loss.item():.4f} Loss_G: {g_loss.item():.4f} std: {spread:.3f}",
                flush=True,
            )
