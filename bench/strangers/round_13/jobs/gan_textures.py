"""WGAN-GP on small textures (学習用スクリプト)"""
import os
import time

import torch
import torch.nn as nn

torch.manual_seed(12)
Z = 24
G = nn.Sequential(
    nn.Linear(Z, 32 * 16), nn.ReLU(), nn.Unflatten(1, (32, 4, 4)),
    nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.BatchNorm2d(16), nn.ReLU(),
    nn.ConvTranspose2d(16, 1, 4, 2, 1), nn.Tanh(),
)
C = nn.Sequential(
    nn.Conv2d(1, 16, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(512, 1)
)
og = torch.optim.Adam(G.parameters(), 1e-4, (0.0, 0.9))
oc = torch.optim.Adam(C.parameters(), 1e-4, (0.0, 0.9))
yy, xx = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")


def real(n=64):
    a = torch.rand(n, 1, 1, 1) * 3.14
    f = 0.4 + torch.rand(n, 1, 1, 1)
    return torch.sin(f * (xx * a.cos() + yy * a.sin()) + 6.28 * torch.rand(n, 1, 1, 1))


os.makedirs("samples", exist_ok=True)
t = time.time()
for it in range(1, 200001):
    for _ in range(3):
        r, f = real(), G(torch.randn(64, Z)).detach()
        e = torch.rand(64, 1, 1, 1)
        m = (e * r + (1 - e) * f).requires_grad_()
        gr = torch.autograd.grad(C(m).sum(), m, create_graph=True)[0]
        gp = ((gr.flatten(1).norm(dim=1) - 1) ** 2).mean()
        lc = C(f).mean() - C(r).mean() + 10 * gp
        oc.zero_grad()
        lc.backward()
        oc.step()
    lg = -C(G(torch.randn(64, Z))).mean()
    og.zero_grad()
    lg.backward()
    og.step()
    if it % 30 == 0:
        print(f"反復 {it}: 識別器 {lc.item():+.3f} 生成器 {lg.item():+.3f} 勾配罰 {gp.item():.3f} ({30 / (time.time() - t):.1f} it/s)")
        t = time.time()
    if it % 600 == 0:
        with torch.no_grad():
            torch.save(G(torch.randn(36, Z)), f"samples/{it:06d}.pt")
        torch.save({"G": G.state_dict(), "C": C.state_dict()}, "gan.pt")
