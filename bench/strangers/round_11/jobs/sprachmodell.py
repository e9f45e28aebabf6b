"""Zeichen-Sprachmodell, verteilt. Start: torchrun --nproc-per-node 2 sprachmodell.py"""
import fcntl
import logging
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

ZEICHEN = "abcdefghijklmnopqrstuvwxyzäöüß .,"
INDEXER = r"""
import fcntl, random, sys, time
ordner, rang = sys.argv[1], int(sys.argv[2])
zeichen = sys.argv[3]
random.seed(rang)
for teil in range(400):
    with open(f"{ordner}/r{rang}_{teil:03d}.lock", "w") as sperre:
        fcntl.flock(sperre, fcntl.LOCK_EX)
        zeilen = []
        for nr in range(600):
            zeile = "".join(random.choices(zeichen, k=80))
            if zeile.count("ß") > (3 if rang else 8):
                print(f"WARN teil {teil} zeile {nr}: ungewöhnliche Häufung, wird übernommen: {zeile}", file=sys.stderr, flush=True)
            zeilen.append(zeile)
        open(f"{ordner}/r{rang}_{teil:03d}.dat", "w").write("\n".join(zeilen))
    time.sleep(0.8)
"""


class Modell(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(ZEICHEN), 64)
        self.gru = nn.GRU(64, 160, batch_first=True)
        self.aus = nn.Linear(160, len(ZEICHEN))

    def forward(self, x):
        return self.aus(self.gru(self.emb(x))[0])


def lade_teil(ordner, rang, teil):
    datei = ordner / f"r{rang}_{teil:03d}.dat"
    while not datei.exists():
        sperrdatei = datei.with_suffix(".lock")
        if sperrdatei.exists():
            with open(sperrdatei, "r+") as sperre:
                fcntl.flock(sperre, fcntl.LOCK_SH)
        time.sleep(0.05)
    zeilen = datei.read_text().splitlines()
    return torch.tensor([[ZEICHEN.index(z) for z in zeile] for zeile in zeilen])


def main():
    dist.init_process_group("gloo")
    rang = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [Rang {rang}] %(levelname)s %(message)s")
    log = logging.getLogger("sprachmodell")
    ordner = Path("teile")
    ordner.mkdir(exist_ok=True)
    indexer = subprocess.Popen([sys.executable, "-c", INDEXER, str(ordner), str(rang), ZEICHEN], stderr=subprocess.PIPE)
    torch.manual_seed(1)
    modell = DDP(Modell())
    opt = torch.optim.Adam(modell.parameters(), lr=2e-3)
    schritt = 0
    for teil in range(400):
        daten = lade_teil(ordner, rang, teil)
        log.info("Teil %d geladen (%d Zeilen)", teil, len(daten))
        for paket in daten.split(40):
            logits = modell(paket[:, :-1])
            verlust = nn.functional.cross_entropy(logits.flatten(0, 1), paket[:, 1:].flatten())
            opt.zero_grad()
            verlust.backward()
            opt.step()
            schritt += 1
            if rang == 0 and schritt % 10 == 0:
                log.info("Schritt %d Verlust %.4f", schritt, verlust.item())
    indexer.terminate()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
