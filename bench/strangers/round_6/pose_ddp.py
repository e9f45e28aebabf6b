# Keypoint regression, DDP under torchrun. Deutsche Ausgaben fuer das Laborbuch.
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def datensatz(n=4096):
    g = torch.Generator().manual_seed(0)
    bilder = torch.rand(n, 1, 24, 24, generator=g)
    punkte = torch.stack([bilder[:, 0].mean(2).argmax(1), bilder[:, 0].mean(1).argmax(1)], 1) / 24
    return TensorDataset(bilder, punkte)


def netz():
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, stride=2),
        nn.ReLU(),
        nn.Conv2d(12, 24, 3, stride=2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(600, 64),
        nn.ReLU(),
        nn.Linear(64, 2),
    )


def training():
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(minutes=20))
    rang = dist.get_rank()
    daten = datensatz()
    wahl = DistributedSampler(daten)
    lader = DataLoader(daten, batch_size=32, sampler=wahl)
    modell = DistributedDataParallel(netz())
    optimierer = torch.optim.SGD(modell.parameters(), lr=0.02, momentum=0.9)
    schritt = 0
    for epoche in range(500):
        wahl.set_epoch(epoche)
        for bild, ziel in lader:
            fehler = nn.functional.mse_loss(modell(bild), ziel)
            optimierer.zero_grad()
            fehler.backward()
            optimierer.step()
            schritt += 1
            time.sleep(0.06)
            if rang == 0 and schritt % 10 == 0:
                sys.stderr.write(f"Epoche {epoche} Schritt {schritt} Verlust {fehler.item():.5f}\n")


if __name__ == "__main__":
    training()
