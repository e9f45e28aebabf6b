"""Kleines Netz für Materialermüdung, Lernrate nach Polynom bis null."""

import time

import torch
from torch import nn

EPOCHEN, SCHRITTE = 40, 500
torch.manual_seed(3)
x = torch.randn(512, 16)
y = (x[:, :4].prod(1, keepdim=True) + x[:, 4:5]).tanh()
netz = nn.Sequential(nn.Linear(16, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
opt = torch.optim.AdamW(netz.parameters(), lr=5e-4)
plan = torch.optim.lr_scheduler.PolynomialLR(opt, total_iters=EPOCHEN, power=1.0)
nr = 0
for epoche in range(EPOCHEN):
    for _ in range(SCHRITTE):
        verlust = nn.functional.mse_loss(netz(x), y)
        opt.zero_grad()
        verlust.backward()
        opt.step()
        plan.step()
        nr += 1
        time.sleep(0.09)
        if nr % 10 == 0:
            rate = plan.get_last_lr()[0]
            print(
                f"Epoche {epoche + 1:02d}/{EPOCHEN} Schritt {nr:06d} Verlust {verlust.item():.6f} Lernrate {rate:.2e}"
            )
