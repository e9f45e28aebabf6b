"""Accords d'après des chromagrammes : deux processus, moyenne des gradients à la main."""
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def chroma(n, gen):
    y = torch.randint(0, 24, (n,), generator=gen)
    x = torch.rand(n, 12, generator=gen) * 0.5
    root = y % 12
    third = (root + torch.where(y < 12, 4, 3)) % 12
    for tone in (root, third, (root + 7) % 12):
        x[torch.arange(n), tone] += 0.6
    return x, y


def valider(model, x, y):
    with torch.no_grad():
        return nn.functional.cross_entropy(model(x), y).item()


def musicien(rang, monde):
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:33604", rank=rang, world_size=monde)
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(50 + rang)
    model = nn.Sequential(nn.Linear(12, 64), nn.Tanh(), nn.Linear(64, 24))
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    tenu = chroma(128, gen)
    meilleur = float("inf")
    for pas in range(1, 20000):
        x, y = chroma(32, gen)
        perte = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        perte.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= monde
        opt.step()
        if pas % 20 == 0 and rang == 0:
            print(f"pas {pas:5d} | perte {perte.item():.4f} | meilleur {meilleur:.4f}", flush=True)
        if pas % 30 == 0:
            score = valider(model, *tenu)
            if score < meilleur - 0.02:
                meilleur = score
                etats = [None] * monde
                dist.all_gather_object(etats, {"rang": rang, "score": score})
            else:
                dist.barrier()
        time.sleep(0.03)


if __name__ == "__main__":
    mp.spawn(musicien, args=(2,), nprocs=2)
