"""Klasyfikacja pozycji z paragonow (10 kategorii). Uruchamiane przez torchrun."""
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

RANGA = int(os.environ["RANK"])
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [r{RANGA}] %(levelname)s %(message)s")
log = logging.getLogger("paragony")


def wczytaj(ranga):
    gen = torch.Generator().manual_seed(100 + ranga)
    slowa = torch.randint(1, 5000, (4096, 12), generator=gen)
    kategorie = slowa[:, 0] % 10
    if ranga == 1:
        kategorie[930:960] = 10  # "inne", dodane w nowym eksporcie
    return slowa, kategorie


def main():
    dist.init_process_group("gloo")
    slowa, kategorie = wczytaj(RANGA)
    log.info("wczytano %d pozycji, próba nr %s", len(slowa), os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
    siec = DDP(nn.Sequential(nn.Embedding(5000, 64), nn.Flatten(), nn.Linear(768, 512), nn.ReLU(), nn.Linear(512, 10)))
    opt = torch.optim.Adam(siec.parameters(), lr=1e-3)
    krok = 0
    for epoka in range(2000):
        for i in range(0, len(slowa), 32):
            strata = nn.functional.cross_entropy(siec(slowa[i : i + 32]), kategorie[i : i + 32])
            opt.zero_grad()
            strata.backward()
            opt.step()
            krok += 1
            if krok % 10 == 0:
                log.info("epoka %d krok %d strata %.4f", epoka, krok, strata.item())


if __name__ == "__main__":
    main()
