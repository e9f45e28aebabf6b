"""Zustandsklassifikation von Turbinen, zwei Prozesse ueber mp.spawn."""
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.tensorboard import SummaryWriter


def netz(breite=224, tiefe=10):
    schichten = [nn.Linear(64, breite), nn.GELU()]
    for _ in range(tiefe):
        schichten += [nn.Linear(breite, breite), nn.LayerNorm(breite), nn.GELU()]
    return nn.Sequential(*schichten, nn.Linear(breite, 5))


def arbeiter(rang, anzahl):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = "31002"
    dist.init_process_group("gloo", rank=rang, world_size=anzahl)
    torch.manual_seed(1)
    modell = DistributedDataParallel(netz())
    optimierer = torch.optim.AdamW(modell.parameters(), lr=3e-4)
    verlust = nn.CrossEntropyLoss()
    g = torch.Generator().manual_seed(rang)
    w = torch.randn(64, 5, generator=torch.Generator().manual_seed(9))
    schreiber = SummaryWriter("protokoll") if rang == 0 else None
    beginn = time.time()
    for schritt in range(1, 10**6):
        x = torch.randn(96, 64, generator=g)
        y = (x @ w + 2 * torch.randn(96, 5, generator=g)).argmax(1)
        optimierer.zero_grad(set_to_none=True)
        l = verlust(modell(x), y)
        l.backward()
        if schreiber:
            schreiber.add_scalar("verlust", l.item(), schritt)
            for name, p in modell.module.named_parameters():
                schreiber.add_histogram("gewichte/" + name, p, schritt)
                schreiber.add_histogram("gradienten/" + name, p.grad, schritt)
        optimierer.step()
        if schritt % 20 == 0:
            print(f"[Rang {rang}] Schritt {schritt:5d}  Verlust {l.item():.4f}  Dauer {time.time() - beginn:.1f} s", flush=True)


if __name__ == "__main__":
    mp.spawn(arbeiter, args=(2,), nprocs=2)
