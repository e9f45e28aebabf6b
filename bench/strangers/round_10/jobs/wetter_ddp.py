"""Temperaturvorhersage, zwei Prozesse (DDP, gloo)."""
import logging
import math
import time

import torch
import torch.distributed as dist
import torch.nn as nn

dist.init_process_group("gloo")
rang = dist.get_rank()
logging.basicConfig(level=logging.INFO if rang == 0 else logging.WARNING, format="%(asctime)s %(levelname)-7s %(message)s")
log = logging.getLogger("wetter")
torch.manual_seed(0)


class Netz(nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.k = nn.LSTM(8, 96, batch_first=True), nn.Linear(96, 8)

    def forward(self, x):
        return self.k(self.l(x)[0][:, -1])


netz = nn.parallel.DistributedDataParallel(Netz())
opt = torch.optim.AdamW(netz.parameters(), lr=1e-3)
plan = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / 200) * 0.5 * (1 + math.cos(math.pi * min(1, s / 40000))))
g = torch.Generator().manual_seed(rang + 1)


def stapel(n):
    p = torch.rand(n, 1, 8, generator=g) * 6.28
    f = 0.1 + 0.3 * torch.rand(n, 1, 8, generator=g)
    z = torch.arange(33.0)[None, :, None]
    x = torch.sin(f * z + p) + 0.5 * torch.sin(2.7 * f * z) + 0.25 * torch.randn(n, 33, 8, generator=g)
    return x[:, :32], x[:, 32]


schritt, t = 0, time.time()
while schritt < 40000:
    x, y = stapel(32)
    verlust = nn.functional.mse_loss(netz(x), y)
    opt.zero_grad()
    verlust.backward()
    norm = nn.utils.clip_grad_norm_(netz.parameters(), 1.0)
    opt.step()
    plan.step()
    schritt += 1
    if schritt % 50 == 0:
        log.info("Schritt %d  Verlust %.4f  Gradientennorm %.3f  Lernrate %.2e  %.0f Schritte/s", schritt, verlust.item(), norm, plan.get_last_lr()[0], 50 / (time.time() - t))
        t = time.time()
    if schritt % 600 == 0:
        netz.eval()
        with torch.no_grad():
            fehler = torch.stack([nn.functional.mse_loss(netz(a), b) for a, b in (stapel(64) for _ in range(20))]).mean()
        dist.all_reduce(fehler)
        netz.train()
        log.info("Auswertung: mittlerer Fehler %.4f", fehler.item() / 2)
        if rang == 0:
            torch.save(netz.module.state_dict(), "wetter.pt")
            log.info("Stand gesichert: wetter.pt")
        dist.barrier()
        t = time.time()
