# Empfehlungsmodell (zwei Tuerme), synchron auf mehreren Prozessen. Ausgabe: eine JSON-Zeile pro Eintrag
import json
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

NUTZER, ARTIKEL, DIM = 20_000, 8_000, 48


class ZweiTuerme(nn.Module):
    def __init__(self):
        super().__init__()
        self.nutzer = nn.Embedding(NUTZER, DIM)
        self.artikel = nn.Embedding(ARTIKEL, DIM)
        self.kopf = nn.Sequential(nn.Linear(2 * DIM, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, n, a):
        return self.kopf(torch.cat([self.nutzer(n), self.artikel(a)], 1)).squeeze(1)


def schreibe(**eintrag):
    print(json.dumps({"zeit": round(time.time(), 2), **eintrag}), flush=True)


def stapel(gen, groesse=1024):
    n = torch.randint(NUTZER, (groesse,), generator=gen)
    a = torch.randint(ARTIKEL, (groesse,), generator=gen)
    return n, a, ((n % 7) == (a % 7)).float()


def mitteln(modell):
    for p in modell.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()


def trefferquote(modell, gen):
    with torch.no_grad():
        n, a, z = stapel(gen, 2048)
        return ((modell(n, a) > 0).float() == z).float().mean().item()


def main():
    dist.init_process_group("gloo")
    rang = dist.get_rank()
    torch.manual_seed(0)
    modell = ZweiTuerme()
    opt = torch.optim.Adam(modell.parameters(), lr=2e-3)
    gen = torch.Generator().manual_seed(100 + rang)
    beste, geduld = 0.0, 0
    for schritt in range(1, 100_000):
        n, a, z = stapel(gen)
        verlust = nn.functional.binary_cross_entropy_with_logits(modell(n, a), z)
        opt.zero_grad()
        verlust.backward()
        mitteln(modell)
        opt.step()
        if rang == 0 and schritt % 10 == 0:
            schreibe(schritt=schritt, loss=round(verlust.item(), 4))
        if schritt % 50 == 0:
            # jeder Prozess bewertet seine eigenen Nutzer
            quote = trefferquote(modell, gen)
            if quote > beste:
                beste, geduld = quote, 0
            else:
                geduld += 1
            if geduld >= 2:
                # keine Verbesserung: beste Werte von Rang 0 uebernehmen und die Lernrate halbieren
                for p in modell.parameters():
                    dist.broadcast(p.data, src=0)
                for g in opt.param_groups:
                    g["lr"] /= 2
                geduld = 0
            if rang == 0:
                schreibe(schritt=schritt, trefferquote=round(quote, 4), beste=round(beste, 4), lr=opt.param_groups[0]["lr"])
                torch.save(modell.state_dict(), os.path.join(os.getcwd(), "modell.pt"))


if __name__ == "__main__":
    sys.exit(main())
