# WGAN-GP sur des anneaux 2D -- journal en CSV (stdout + pertes.csv)
import csv
import sys
import time

import torch
from torch import nn

torch.set_num_threads(1)
graine = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(graine)


def reel(n):
    angle = torch.rand(n) * 6.2832
    rayon = torch.where(torch.rand(n) < 0.5, 1.0, 2.0) + 0.05 * torch.randn(n)
    return torch.stack([rayon * angle.cos(), rayon * angle.sin()], 1)


def reseau(entree, sortie, l=256):
    return nn.Sequential(nn.Linear(entree, l), nn.LeakyReLU(0.2), nn.Linear(l, l), nn.LeakyReLU(0.2), nn.Linear(l, l), nn.LeakyReLU(0.2), nn.Linear(l, sortie))


gen, critique = reseau(16, 2), reseau(2, 1)
og = torch.optim.Adam(gen.parameters(), 2e-4, betas=(0.0, 0.9))
oc = torch.optim.Adam(critique.parameters(), 4e-4, betas=(0.0, 0.9))
fichier = open("pertes.csv", "w", newline="")
ecrit = [csv.writer(fichier), csv.writer(sys.stdout)]
for e in ecrit:
    e.writerow(["iteration", "perte_critique", "perte_generateur", "duree_ms"])
N = 256
for it in range(200_000):
    debut = time.perf_counter()
    for _ in range(5):
        x, f = reel(N), gen(torch.randn(N, 16)).detach()
        a = torch.rand(N, 1)
        m = (a * x + (1 - a) * f).requires_grad_()
        g = torch.autograd.grad(critique(m).sum(), m, create_graph=True)[0]
        pc = critique(f).mean() - critique(x).mean() + 10 * ((g.norm(dim=1) - 1) ** 2).mean()
        oc.zero_grad()
        pc.backward()
        oc.step()
    pg = -critique(gen(torch.randn(N, 16))).mean()
    og.zero_grad()
    pg.backward()
    og.step()
    if it % 20 == 0:
        for e in ecrit:
            e.writerow([it, f"{pc.item():.4f}", f"{pg.item():.4f}", f"{1e3 * (time.perf_counter() - debut):.1f}"])
        fichier.flush()
        sys.stdout.flush()
