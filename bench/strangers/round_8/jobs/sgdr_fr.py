"""Classifieur d'images jouet, cosinus avec redémarrages (SGDR)."""

import time
from datetime import datetime

import torch
from torch import nn

torch.manual_seed(1)
GABARITS = torch.randn(10, 1, 12, 12)


def lot(n=48):
    y = torch.randint(0, 10, (n,))
    return GABARITS[y] + 2.5 * torch.randn(n, 1, 12, 12), y


reseau = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1),
    nn.GELU(),
    nn.AvgPool2d(2),
    nn.Conv2d(12, 24, 3, padding=1),
    nn.GELU(),
    nn.AdaptiveAvgPool2d(3),
    nn.Flatten(),
    nn.Linear(216, 10),
)
opt = torch.optim.SGD(reseau.parameters(), lr=0.008, momentum=0.9)
plan = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=400, eta_min=8e-4)
somme = 0.0
for pas in range(1, 100001):
    x, y = lot()
    perte = nn.functional.cross_entropy(reseau(x), y)
    opt.zero_grad()
    perte.backward()
    opt.step()
    plan.step()
    somme += perte.item()
    time.sleep(0.03)
    if pas % 20 == 0:
        heure = datetime.now().strftime("%H:%M:%S")
        print(f"{heure}  pas {pas:>6}  perte {somme / 20:.4f}  taux {plan.get_last_lr()[0]:.5f}")
        somme = 0.0
