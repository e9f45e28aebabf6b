"""CTC acustico per i comandi vocali (dati sintetici per le prove in locale)."""
import fcntl
import json
import multiprocessing
import os
import shutil
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

CACHE = Path("cache")
STATS = CACHE / "cmvn.json"
FINE = Path("FINE")


class Blocco:
    """Lucchetto fra processi sulla cartella della cache."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.flock(self.fd, fcntl.LOCK_EX)
        return self

    def __exit__(self, *exc):
        os.close(self.fd)


class Acustico(nn.Module):
    def __init__(self, mel=40, dim=128, simboli=29):
        super().__init__()
        self.front = nn.Conv1d(mel, dim, 5, stride=2, padding=2)
        self.rnn = nn.GRU(dim, dim, num_layers=2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * dim, simboli)

    def forward(self, x):
        h = torch.relu(self.front(x.transpose(1, 2))).transpose(1, 2)
        h, _ = self.rnn(h)
        return self.out(h).log_softmax(-1)


def specchio(sorgente, destinazione):
    """Tiene una copia della cache sul disco comune finché l'addestramento non finisce."""
    visto = 0.0
    while not FINE.exists():
        ora = sorgente.stat().st_mtime
        if ora > visto:
            shutil.copy(sorgente, destinazione)
            visto = ora
        time.sleep(2.0)


def statistiche(gen, epoca):
    x = gen.normal(size=(400, 40)) + epoca * 0.01
    return {"epoca": epoca, "media": x.mean(0).tolist(), "dev": x.std(0).tolist()}


def lotto(gen, media, dev, n=12, t=160):
    etichette = gen.integers(1, 29, size=(n, 12))
    x = gen.normal(size=(n, t, 40)).astype(np.float32)
    for i in range(n):
        for j, s in enumerate(etichette[i]):
            x[i, j * 13 : j * 13 + 9, s] += 3.0
    x = (x - media) / dev
    return torch.from_numpy(x.astype(np.float32)), torch.from_numpy(etichette)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(7)
    gen = np.random.default_rng(100 + rank)
    rete = DistributedDataParallel(Acustico())
    opt = torch.optim.AdamW(rete.parameters(), lr=1e-3)
    ctc = nn.CTCLoss(zero_infinity=True)
    CACHE.mkdir(exist_ok=True)
    if rank == 0:
        print(f"avvio: {dist.get_world_size()} processi, {sum(p.numel() for p in rete.parameters())} parametri", flush=True)
    copia = None
    for epoca in range(1, 400):
        if rank == 0:
            with Blocco(CACHE / ".lock"):
                STATS.write_text(json.dumps(statistiche(gen, epoca)))
                if copia is None and epoca == 3:
                    copia = multiprocessing.get_context("fork").Process(
                        target=specchio, args=(STATS, Path("cmvn_copia.json")), daemon=True
                    )
                    copia.start()
            print(f"epoca {epoca}: statistiche aggiornate", flush=True)
        dist.barrier()
        if rank == 0:
            s = json.loads(STATS.read_text())
        else:
            with Blocco(CACHE / ".lock"):
                s = json.loads(STATS.read_text())
        media, dev = np.asarray(s["media"]), np.asarray(s["dev"])
        inizio = time.time()
        for passo in range(25):
            x, y = lotto(gen, media, dev)
            lp = rete(x)
            n, t = lp.shape[:2]
            perdita = ctc(lp.transpose(0, 1), y, torch.full((n,), t), torch.full((n,), y.shape[1]))
            opt.zero_grad()
            perdita.backward()
            nn.utils.clip_grad_norm_(rete.parameters(), 5.0)
            opt.step()
            if rank == 0 and passo % 5 == 0:
                print(f"epoca {epoca} passo {passo:3d} perdita {perdita.item():.3f}", flush=True)
        if rank == 0:
            print(f"epoca {epoca} finita in {time.time() - inizio:.1f} s", flush=True)
    FINE.touch()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
