"""Matrix-Faktorisierung mit Bias, drei Prozesse, Gradienten von Hand gemittelt."""
import logging
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

PROZESSE = 3
NUTZER, ARTIKEL = 3000, 2000


class Faktoren(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.u = nn.Embedding(NUTZER, dim)
        self.v = nn.Embedding(ARTIKEL, dim)
        self.kopf = nn.Sequential(nn.Linear(2 * dim, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, n, a):
        u, v = self.u(n), self.v(a)
        return self.kopf(torch.cat([u, v], 1)).squeeze(1) + (u * v).sum(1) / 7


def daten(g, n, nu, av):
    i = torch.randint(0, NUTZER, (n,), generator=g)
    j = torch.randint(0, ARTIKEL, (n,), generator=g)
    return i, j, (nu[i] * av[j]).sum(1) + 0.3 * torch.randn(n, generator=g)


def mitteln(modell):
    for p in modell.parameters():
        dist.all_reduce(p.grad)
        p.grad /= PROZESSE


def arbeiter(rang):
    os.environ.update(RANK=str(rang), WORLD_SIZE=str(PROZESSE), LOCAL_RANK=str(rang),
                      MASTER_ADDR="127.0.0.1", MASTER_PORT="31007")
    logging.basicConfig(stream=sys.stdout, level=logging.INFO,
                        format=f"%(asctime)s [Rang {rang}] %(message)s", datefmt="%H:%M:%S")
    dist.init_process_group("gloo", rank=rang, world_size=PROZESSE)
    welt = torch.Generator().manual_seed(1)
    nu, av = torch.randn(NUTZER, 4, generator=welt), torch.randn(ARTIKEL, 4, generator=welt)
    g = torch.Generator().manual_seed(100 + rang)
    torch.manual_seed(5)
    modell = Faktoren()
    opt = torch.optim.Adam(modell.parameters(), lr=3e-3)
    pruef = daten(g, 600, nu, av)
    bester = float("inf")
    for schritt in range(1, 200001):
        i, j, y = daten(g, 2048, nu, av)
        verlust = (modell(i, j) - y).pow(2).mean()
        opt.zero_grad()
        verlust.backward()
        mitteln(modell)
        opt.step()
        if schritt % 10 == 0 and rang == 0:
            logging.info("Schritt %d Verlust %.4f", schritt, verlust.item())
        if schritt % 25 == 0:
            with torch.no_grad():
                mse = (modell(pruef[0], pruef[1]) - pruef[2]).pow(2).mean().item()
            logging.info("Prüfung nach %d Schritten: MSE %.4f (bisher %.4f)", schritt, mse, bester)
            if mse < bester:
                bester = mse
                dist.barrier()
                if rang == 0:
                    torch.save(modell.state_dict(), "bestes.pt")


if __name__ == "__main__":
    mp.spawn(arbeiter, nprocs=PROZESSE)
