"""Kurzfristvorhersage der Temperatur aus Stationsdaten, drei Prozesse auf einem Rechner."""
import argparse
import fcntl
import json
import logging
import os
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

ORDNER = Path("zwischenspeicher")
STATIONEN = 36


def stationsindex():
    """Baut im Hintergrund den Index der Stationen und haelt ihn aktuell."""
    sperre = open(ORDNER / "index.lock", "w")
    bekannt = {}
    while True:
        neue = [s for s in range(STATIONEN) if (ORDNER / f"station_{s:02d}.npy").exists() and s not in bekannt]
        if neue:
            fcntl.flock(sperre, fcntl.LOCK_EX)
            for s in neue:
                daten = np.load(ORDNER / f"station_{s:02d}.npy")
                bekannt[s] = [float(daten.mean()), float(daten.std())]
            (ORDNER / "index.json").write_text(json.dumps(bekannt))
            if len(bekannt) < STATIONEN:
                fcntl.flock(sperre, fcntl.LOCK_UN)
        time.sleep(1.0)


def lade_statistik(station):
    with open(ORDNER / "index.lock", "w") as sperre:
        fcntl.flock(sperre, fcntl.LOCK_EX)
        return json.loads((ORDNER / "index.json").read_text()).get(str(station), [0.0, 1.0])


def lauf(rang, welt, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rang), WORLD_SIZE=str(welt))
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s Rang {rang} %(levelname)s %(message)s")
    log = logging.getLogger("wetter")
    dist.init_process_group("gloo", rank=rang, world_size=welt)
    torch.manual_seed(0)
    netz = nn.Sequential(nn.Linear(48, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 6))
    opt = torch.optim.AdamW(netz.parameters(), lr=5e-4)
    meine = list(range(rang, STATIONEN, welt))
    zufall = np.random.default_rng(rang)
    statistik = {}
    for epoche in range(100000):
        for nr, station in enumerate(meine[: 3 + epoche // 3] if rang == welt - 1 else meine[:3]):
            if station not in statistik:
                statistik[station] = lade_statistik(station)
        summe = 0.0
        for _ in range(40):
            reihe = zufall.normal(0, 1, (256, 54)).cumsum(1).astype("float32")
            x, y = torch.from_numpy(reihe[:, :48]), torch.from_numpy(reihe[:, 48:])
            verlust = nn.functional.smooth_l1_loss(netz(x), y)
            opt.zero_grad()
            verlust.backward()
            for p in netz.parameters():
                dist.all_reduce(p.grad)
                p.grad /= welt
            opt.step()
            summe += verlust.item()
        log.info("Epoche %d fertig, mittlerer Verlust %.4f", epoche, summe / 40)
        if rang == 0 and epoche == 8:
            # die restlichen Stationen sind inzwischen heruntergeladen
            for s in range(STATIONEN // 2, STATIONEN):
                np.save(ORDNER / f"station_{s:02d}.npy", np.random.default_rng(s).normal(10, 8, 5000))
            time.sleep(2.5)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--prozesse", type=int, default=3)
    p.add_argument("--port", type=int, default=31002)
    a = p.parse_args()
    ORDNER.mkdir(exist_ok=True)
    for s in range(STATIONEN // 2):
        np.save(ORDNER / f"station_{s:02d}.npy", np.random.default_rng(s).normal(10, 8, 5000))
    index = mp.get_context("spawn").Process(target=stationsindex, daemon=True)
    index.start()
    while not (ORDNER / "index.json").exists():
        time.sleep(0.2)
    mp.spawn(lauf, args=(a.prozesse, a.port), nprocs=a.prozesse)
