import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F


def shapes(n, g):
    yy, xx = torch.meshgrid(torch.arange(48.0), torch.arange(48.0), indexing="ij")
    c = torch.rand(n, 2, 1, 1, generator=g) * 32 + 8
    r = torch.rand(n, 1, 1, generator=g) * 8 + 4
    m = (((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2) < r**2).float()
    return (m + torch.randn(n, 48, 48, generator=g) * 1.6)[:, None], m[:, None]


def unet():
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, 32, 5, padding=2), nn.ReLU(),
        nn.Upsample(scale_factor=2), nn.Conv2d(32, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 1, 3, padding=1),
    )


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    net = nn.parallel.DistributedDataParallel(unet())
    opt = torch.optim.AdamW(net.parameters(), lr=2e-4)
    g = torch.Generator().manual_seed(10 + rank)
    hx, hm = shapes(160, torch.Generator().manual_seed(1))
    for rnd in range(1, 200):
        net.train()
        for b in range(100):
            x, m = shapes(16, g)
            loss = F.binary_cross_entropy_with_logits(net(x), m)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if rank == 0 and b % 10 == 9:
                print(f"  round {rnd} batch {b + 1:3d}  bce {loss.item():.4f}", flush=True)
        if rank == 0:
            net.eval()
            with torch.no_grad():
                p = torch.cat([net.module(c) for c in hx.split(16)]) > 0
            inter = (p & (hm > 0)).sum().item()
            print(f"round {rnd}: IoU {inter / max(1, (p | (hm > 0)).sum().item()):.4f}", flush=True)
            torch.save(net.module.state_dict(), "seg.pt.tmp")
            os.replace("seg.pt.tmp", "seg.pt")
        dist.barrier()
    dist.destroy_process_group()


main()
