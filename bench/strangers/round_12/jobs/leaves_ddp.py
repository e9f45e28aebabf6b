"""Segments leaves in drone pictures (DDP, gloo)."""
import os
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Leaves(Dataset):
    def __init__(self, n, first):
        self.n, self.first = n, first

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.first + i)
        yy, xx = torch.meshgrid(torch.arange(48.0), torch.arange(48.0), indexing="ij")
        cy, cx = (torch.rand(2, generator=g) * 48).tolist()
        a, b = (torch.rand(2, generator=g) * 12 + 4).tolist()
        mask = (((yy - cy) / a) ** 2 + ((xx - cx) / b) ** 2 < 1).float()
        img = torch.randn(3, 48, 48, generator=g) * 0.6
        img[1] += mask
        return img, mask


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = block(3, 12), block(12, 24), block(36, 12)
        self.o = nn.Conv2d(12, 1, 1)

    def forward(self, x):
        a = self.a(x)
        b = F.interpolate(self.b(F.max_pool2d(a, 2)), scale_factor=2)
        return self.o(self.c(torch.cat([a, b], 1))).squeeze(1)


dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
net = DDP(UNet())
train, val = Leaves(3200, 0), Leaves(320, 10**6)
sampler = DistributedSampler(train, world, rank)
loader = DataLoader(train, 16, sampler=sampler)
vloader = DataLoader(val, 32, sampler=DistributedSampler(val, world, rank, shuffle=False))
opt = torch.optim.AdamW(net.parameters(), 1e-3)
sched = OneCycleLR(opt, 3e-3, total_steps=len(loader) * 100)
step, tic = 0, time.time()
for epoch in range(100):
    sampler.set_epoch(epoch)
    net.train()
    for img, mask in loader:
        loss = F.binary_cross_entropy_with_logits(net(img), mask)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        step += 1
        if step % 25 == 0 and rank == 0:
            print(f"Epoch [{epoch + 1}/100] Step [{step}] Loss: {loss.item():.4f} LR: {sched.get_last_lr()[0]:.2e} ({(time.time() - tic) / 25 * 1e3:.0f} ms/it)")
        if step % 25 == 0:
            tic = time.time()
    net.eval()
    hit = torch.zeros(2)
    with torch.no_grad():
        for img, mask in vloader:
            p = net.module(img) > 0
            hit += torch.tensor([(p * mask).sum(), (p + mask > 0).sum()])
    dist.all_reduce(hit)
    if rank == 0:
        print(f"  * val IoU {hit[0] / hit[1]:.4f}")
        torch.save({"net": net.module.state_dict(), "opt": opt.state_dict(), "epoch": epoch}, "last.pt.tmp")
        os.replace("last.pt.tmp", "last.pt")
    dist.barrier()
    tic = time.time()
