"""Galaxy morphology (four classes); two trainers, rank 0 validates and keeps the best weights."""
import ctypes
import logging
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel

ctypes.CDLL(None).prctl(1, 9)  # no orphans on the login node
rank = int(os.environ["RANK"])
logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s | %(levelname)s | %(message)s")
log = logging.getLogger("morph")


def stamps(n, seed, size=40):
    g = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
    kind = torch.randint(0, 4, (n,), generator=g)
    q = 0.4 + 0.6 * torch.rand(n, 1, 1, generator=g)
    pa = 3.14 * torch.rand(n, 1, 1, generator=g)
    u = xx * pa.cos() + yy * pa.sin()
    v = (-xx * pa.sin() + yy * pa.cos()) / q
    r, th = (u**2 + v**2).sqrt(), torch.atan2(v, u)
    k = kind.view(-1, 1, 1)
    img = torch.exp(-4 * r)
    img = img + (k == 1) * 0.5 * torch.exp(-2 * r) * torch.cos(2 * th - 9 * r)
    img = img + (k == 2) * 0.5 * torch.exp(-2 * r) * torch.cos(3 * th - 9 * r)
    img = img + (k == 3) * 0.5 * torch.exp(-((r - 0.55) ** 2) / 0.02)
    return (img + 0.45 * torch.randn(n, size, size, generator=g)).unsqueeze(1), kind


class Net(nn.Module):
    def __init__(self, c=24):
        super().__init__()
        self.f = nn.Sequential(
            nn.Conv2d(1, c, 5, 2, 2), nn.GroupNorm(4, c), nn.GELU(),
            nn.Conv2d(c, 2 * c, 3, 2, 1), nn.GroupNorm(4, 2 * c), nn.GELU(),
            nn.Conv2d(2 * c, 2 * c, 3, 2, 1), nn.GELU(), nn.Flatten(), nn.Linear(2 * c * 25, 4))

    def forward(self, x):
        return self.f(x)


dist.init_process_group("gloo")
torch.manual_seed(0)
model = DistributedDataParallel(Net())
opt = torch.optim.SGD(model.parameters(), lr=3e-4, momentum=0.9)
crit = nn.CrossEntropyLoss()
x, y = stamps(6000, 10 + rank)
vx, vy = stamps(5000, 99) if rank == 0 else (None, None)
gen = torch.Generator().manual_seed(rank)
best, step = 0.0, 0
for epoch in range(500):
    for _ in range(400):
        idx = torch.randint(0, len(x), (24,), generator=gen)
        loss = crit(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        if step % 40 == 0:
            log.info("epoch %d step %d loss %.4f", epoch, step, loss.item())
    if rank == 0:
        t0 = time.time()
        hits = torch.zeros(len(vx), 4)
        with torch.no_grad():
            for k in range(4):  # four rotations
                for i in range(0, len(vx), 100):
                    hits[i : i + 100] += model.module(vx[i : i + 100].rot90(k, (2, 3))).softmax(1)
        acc = (hits.argmax(1) == vy).float().mean().item()
        log.info("epoch %d validation accuracy %.3f (%.1f s)", epoch, acc, time.time() - t0)
        if acc > best:
            best = acc
            torch.save({"model": model.module.state_dict(), "opt": opt.state_dict(), "epoch": epoch}, "best.pt")
            log.info("best so far, saved")
    dist.barrier()
