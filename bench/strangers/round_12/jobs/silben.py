# Silbentrennung: Zeichen-LSTM, zwei Prozesse
import os
import random
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

VOKALE = set("aeiouäöüy")
ALPHABET = "abcdefghijklmnopqrstuvwxyzäöüß"


def woerterbuch(n=6000):
    r = random.Random(7)
    woerter = ["".join(r.choice(ALPHABET) for _ in range(int(r.paretovariate(1.1) * 4) % 60 + 3)) for _ in range(n)]
    return sorted(woerter, key=len, reverse=True)


def kandidaten(wort):
    """Alle Zerlegungen bis zu vier Silben, bewertet."""
    beste, n = [], len(wort)
    for i in range(1, n):
        for j in range(i + 1, n):
            teile = wort[:i], wort[i:j], wort[j:]
            if all(any(z in VOKALE for z in t) for t in teile):
                beste.append((abs(i - n / 3) + abs(j - 2 * n / 3), i, j))
    beste.sort()
    ziel = torch.zeros(n)
    for _, i, j in beste[:1]:
        ziel[i] = ziel[j] = 1
    return ziel


class Trenner(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(ALPHABET) + 1, 24, padding_idx=0)
        self.lstm = nn.LSTM(24, 48, batch_first=True, bidirectional=True)
        self.kopf = nn.Linear(96, 1)

    def forward(self, x):
        h, _ = self.lstm(self.emb(x))
        return self.kopf(h).squeeze(-1)


def arbeiter(rang, welt):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="31005", RANK=str(rang), WORLD_SIZE=str(welt))
    dist.init_process_group("gloo", rank=rang, world_size=welt)
    torch.manual_seed(1)
    alle = woerterbuch()
    teil = alle[: len(alle) // 6] if rang == 0 else alle[len(alle) // 2 :]
    netz = DDP(Trenner())
    opt = torch.optim.Adam(netz.parameters(), 2e-3)
    r = random.Random(rang)
    t0, schritt = time.time(), 0
    for epoche in range(1000):
        r.shuffle(teil)
        for k in range(0, len(teil) - 32, 32):
            stapel = teil[k : k + 32]
            laenge = max(map(len, stapel))
            x = torch.zeros(32, laenge, dtype=torch.long)
            y = torch.zeros(32, laenge)
            for i, wort in enumerate(stapel):
                x[i, : len(wort)] = torch.tensor([ALPHABET.index(z) + 1 for z in wort])
                y[i, : len(wort)] = kandidaten(wort)
            verlust = nn.functional.binary_cross_entropy_with_logits(netz(x), y, weight=(x > 0).float())
            opt.zero_grad(set_to_none=True)
            verlust.backward()
            opt.step()
            schritt += 1
            if schritt % 20 == 0:
                print(f"[Prozess {rang}] Schritt {schritt}  Verlust {verlust.item():.4f}  {20 / (time.time() - t0):.2f} Schritte/s")
                t0 = time.time()


if __name__ == "__main__":
    mp.spawn(arbeiter, args=(2,), nprocs=2)
