#!/usr/bin/env python
# Génération de motifs textiles (DCGAN réduit)
import os
import time
import warnings

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Motifs(Dataset):
    def __len__(self):
        return 6000

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        f = torch.rand(2, generator=g) * 1.5 + 0.2
        v = torch.arange(16.0)
        return torch.sin(v[:, None] * f[0] + v[None] * f[1])[None]


G = nn.Sequential(nn.Linear(32, 128 * 16), nn.Unflatten(1, (128, 4, 4)), nn.BatchNorm2d(128), nn.ReLU(),
                  nn.ConvTranspose2d(128, 64, 4, 2, 1), nn.BatchNorm2d(64), nn.ReLU(), nn.ConvTranspose2d(64, 1, 4, 2, 1), nn.Tanh())
D = nn.Sequential(nn.Conv2d(1, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2),
                  nn.Dropout(0.3), nn.Flatten(), nn.Linear(64 * 16, 1))

if __name__ == "__main__":
    torch.manual_seed(4)
    og, od = torch.optim.Adam(G.parameters(), 2e-4, (0.5, 0.999)), torch.optim.Adam(D.parameters(), 1e-4, (0.5, 0.999))
    bce = nn.BCEWithLogitsLoss()
    warnings.warn("polices introuvables, titres des figures sans accents")
    os.makedirs("echantillons", exist_ok=True)
    charge = DataLoader(Motifs(), 32, shuffle=True, num_workers=1, persistent_workers=True, drop_last=True)
    for epoque in range(1, 1001):
        debut = time.time()
        for k, vrai in enumerate(charge):
            n = len(vrai)
            faux = G(torch.randn(n, 32))
            perte_d = bce(D(vrai), torch.full((n, 1), 0.9)) + bce(D(faux.detach()), torch.zeros(n, 1))
            od.zero_grad(); perte_d.backward(); od.step()
            perte_g = bce(D(faux), torch.ones(n, 1))
            og.zero_grad(); perte_g.backward(); og.step()
            if k % 30 == 0:
                print(f"époque {epoque:4d} lot {k:4d}/{len(charge)}  D={perte_d.item():.3f}  G={perte_g.item():.3f}")
        torch.save(G(torch.randn(64, 32)).detach(), f"echantillons/{epoque % 10}.pt")
        print(f"époque {epoque} terminée en {time.time() - debut:.1f} s, échantillons écrits")
