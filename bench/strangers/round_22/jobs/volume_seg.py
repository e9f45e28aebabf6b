import argparse
import os
import subprocess
import sys
import time
from datetime import datetime

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

ap = argparse.ArgumentParser()
ap.add_argument("--iters", type=int, default=100000)
ap.add_argument("--desktop-core", type=int, default=1, help="local rank that shares its core with the desktop; -1: none")
ap.add_argument("--share", type=float, default=0.7)
args = ap.parse_args()

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.set_num_threads(1)
if int(os.environ["LOCAL_RANK"]) == args.desktop_core:
    limiter = subprocess.Popen([sys.executable, "-u", os.path.join(os.path.dirname(os.path.abspath(__file__)), "polite.py"),
                                str(os.getpid()), str(args.share)], stdout=subprocess.PIPE)


def log(msg):
    if rank == 0:
        print(f"{datetime.now():%Y-%m-%d %H:%M:%S,%f} INFO seg3d: {msg}", flush=True)


class Tiny3D(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Conv3d(1, 8, 3, padding=1), nn.Conv3d(8, 16, 3, stride=2, padding=1), nn.Conv3d(16, 8, 3, padding=1)
        self.out = nn.Conv3d(16, 1, 1)

    def forward(self, x):
        a = F.relu(self.a(x))
        c = F.relu(self.c(F.relu(self.b(a))))
        return self.out(torch.cat([a, F.interpolate(c, scale_factor=2)], 1))


def blobs(g, n=2, s=24):
    ax = torch.arange(s).float()
    m = torch.rand(n, 3, 1, 1, 1, generator=g) * s * 0.6 + s * 0.2
    d = (ax.view(1, s, 1, 1) - m[:, 0]) ** 2 + (ax.view(1, 1, s, 1) - m[:, 1]) ** 2 + (ax.view(1, 1, 1, s) - m[:, 2]) ** 2
    y = (d < 30).float()[:, None]
    return y + 0.8 * torch.randn(y.shape, generator=g), y


torch.manual_seed(0)
net = nn.parallel.DistributedDataParallel(Tiny3D())
opt = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
g = torch.Generator().manual_seed(rank)
t = time.time()
for it in range(1, args.iters + 1):
    x, y = blobs(g)
    p = net(x)
    s = p.sigmoid()
    dice = 1 - (2 * (s * y).sum() + 1) / (s.sum() + y.sum() + 1)
    loss = dice + F.binary_cross_entropy_with_logits(p, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 5 == 0:
        log(f"iter {it}: loss={loss.item():.4f} dice={1 - dice.item():.4f} time={(time.time() - t) / 5 * 1000:.0f}ms")
        t = time.time()
