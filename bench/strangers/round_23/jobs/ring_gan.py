"""GAN for the impact points of the eight-slot hodoscope."""
import math
import time

import torch
from torch import nn

torch.manual_seed(11)
torch.set_num_threads(1)
SLOTS, WIDTH, Z = 8, 0.05, 16
angle = torch.arange(SLOTS) * 2 * math.pi / SLOTS
centres = torch.stack([angle.cos(), angle.sin()], 1)


def impacts(n):
    return centres[torch.randint(SLOTS, (n,))] + WIDTH * torch.randn(n, 2)


def mlp(i, o, h=192):
    return nn.Sequential(nn.Linear(i, h), nn.LeakyReLU(0.2), nn.Linear(h, h), nn.LeakyReLU(0.2), nn.Linear(h, h), nn.LeakyReLU(0.2), nn.Linear(h, o))


gen, dis = mlp(Z, 2), mlp(2, 1)
ema = mlp(Z, 2)
ema.load_state_dict(gen.state_dict())
og = torch.optim.Adam(gen.parameters(), 2e-4, betas=(0.5, 0.99))
od = torch.optim.Adam(dis.parameters(), 2e-4, betas=(0.5, 0.99))
sp = nn.functional.softplus


@torch.no_grad()
def quality():
    p = ema(torch.randn(4000, Z))
    d, k = torch.cdist(p, centres).min(1)
    good = d < 3 * WIDTH
    return good.float().mean().item(), len(k[good].unique())


begun = time.time()
for it in range(1, 400_001):
    real = impacts(256).requires_grad_(it % 16 == 0)
    fake = gen(torch.randn(256, Z)).detach()
    yr, yf = dis(real), dis(fake)
    loss_d = sp(-yr).mean() + sp(yf).mean()
    if it % 16 == 0:
        (g,) = torch.autograd.grad(yr.sum(), real, create_graph=True)
        loss_d = loss_d + 16 * 0.05 * g.square().sum(1).mean()
    od.zero_grad()
    loss_d.backward()
    od.step()
    loss_g = sp(-dis(gen(torch.randn(256, Z)))).mean()
    og.zero_grad()
    loss_g.backward()
    og.step()
    with torch.no_grad():
        for a, b in zip(ema.parameters(), gen.parameters()):
            a.lerp_(b, 0.002)
    if it % 250 == 0:
        hq, slots = quality()
        print(f"[{time.time() - begun:7.1f}s] it {it:6d}  D {loss_d.item():.3f}  G {loss_g.item():.3f}  D(x) {yr.sigmoid().mean().item():.2f}  D(G(z)) {yf.sigmoid().mean().item():.2f}  hits {100 * hq:5.1f}%  slots {slots}/8")
