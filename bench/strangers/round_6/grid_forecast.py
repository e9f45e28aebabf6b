"""Électricité : prévision de la charge du lendemain, apprentissage en ligne."""

import os
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(7)
PAS = float(os.environ.get("PAS", "0.001"))
DELESTAGE = int(os.environ.get("DELESTAGE", "0"))


class Prevision(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 48, batch_first=True)
        self.sortie = nn.Linear(48, 24)

    def forward(self, x):
        return self.sortie(self.lstm(x)[0][:, -1])


def fenetre(n, etape):
    debut = torch.rand(n, 1) * 1000
    heures = debut + torch.arange(96)
    charge = torch.sin(heures * 6.2832 / 24) + 0.4 * torch.sin(heures * 6.2832 / 168)
    charge += 0.1 * torch.randn_like(charge)
    if DELESTAGE and etape % DELESTAGE == 0:
        charge[: n // 2, 72:] *= 0.2
    return charge[:, :72, None], charge[:, 72:]


def main():
    reseau = Prevision()
    opt = torch.optim.SGD(reseau.parameters(), PAS, momentum=0.9)
    lissage = None
    for etape in range(1, 1_000_000):
        x, y = fenetre(16, etape)
        perte = (reseau(x) - y).square().sum(1).mean()
        opt.zero_grad()
        perte.backward()
        norme = sum(p.grad.square().sum() for p in reseau.parameters()).sqrt().item()
        opt.step()
        if PAS > 0.01:
            for groupe in opt.param_groups:
                groupe["lr"] *= 1.01
        lissage = perte.item() if lissage is None else 0.9 * lissage + 0.1 * perte.item()
        time.sleep(0.1)
        if etape % 3 == 0:
            print(f"étape {etape} perte {perte.item():.4f} (lissée {lissage:.4f}) grad_norm {norme:.4f}", flush=True)


if __name__ == "__main__":
    main()
