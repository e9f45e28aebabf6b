"""GAN на маленьких картинках (кольца и квадраты)."""
import time

import torch
from torch import nn

torch.manual_seed(3)
РАЗМЕР, ШУМ, ПАЧКА = 16, 32, 64

G = nn.Sequential(nn.Linear(ШУМ, 64 * 16), nn.Unflatten(1, (64, 4, 4)), nn.BatchNorm2d(64), nn.ReLU(),
                  nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.ReLU(), nn.ConvTranspose2d(32, 1, 4, 2, 1), nn.Tanh())
D = nn.Sequential(nn.Conv2d(1, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Flatten(), nn.Linear(64 * 16, 1))
opt_g = torch.optim.Adam(G.parameters(), 2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), 2e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()


def настоящие(n):
    ось = torch.linspace(-1, 1, РАЗМЕР)
    c = torch.rand(n, 2, 1, 1) * 0.8 - 0.4
    r = torch.rand(n, 1, 1) * 0.3 + 0.25
    dx, dy = ось[None, None, :] - c[:, 0], ось[None, :, None] - c[:, 1]
    круг = (dx ** 2 + dy ** 2).sqrt()
    квадрат = torch.maximum(dx.abs().expand_as(круг), dy.abs().expand_as(круг))
    d = torch.where(torch.rand(n, 1, 1) < 0.5, круг, квадрат)
    return (2 * torch.exp(-((d - r) ** 2) / 0.02) - 1)[:, None]


начало = time.time()
for эпоха in range(1, 1000):
    for шаг in range(1, 201):
        x = настоящие(ПАЧКА)
        z = torch.randn(ПАЧКА, ШУМ)
        подделка = G(z)
        потеря_d = bce(D(x), torch.full((ПАЧКА, 1), 0.9)) + bce(D(подделка.detach()), torch.zeros(ПАЧКА, 1))
        opt_d.zero_grad(); потеря_d.backward(); opt_d.step()
        потеря_g = bce(D(подделка), torch.ones(ПАЧКА, 1))
        opt_g.zero_grad(); потеря_g.backward(); opt_g.step()
        if шаг % 25 == 0:
            print(f"эпоха {эпоха} шаг {шаг}/200  loss_D {потеря_d.item():.3f}  loss_G {потеря_g.item():.3f}  ({time.time() - начало:.0f} с)", flush=True)
    with torch.no_grad():
        G.eval(); картинки = G(torch.randn(64, ШУМ)); G.train()
    torch.save(картинки, f"samples_{эпоха % 5}.pt")
    print(f"эпоха {эпоха}: примеры сохранены, среднее {картинки.mean().item():+.3f}", flush=True)
