"""Physics-informed net for the 1-D heat equation; the domain is cut among the processes."""
import math
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn

POINTS = {0: 1200, 1: 9000}  # interior points per sub-domain, from mesh_stats.txt


def residual(net, x, t):
    x.requires_grad_(True)
    t.requires_grad_(True)
    u = net(torch.cat([x, t], 1))
    ut = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    ux = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
    uxx = torch.autograd.grad(ux.sum(), x, create_graph=True)[0]
    return ut - 0.1 * uxx


def main(rank, world):
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:31003", rank=rank, world_size=world)
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    g = torch.Generator().manual_seed(rank)
    lo, hi = rank / world, (rank + 1) / world
    t0 = time.time()
    for it in range(1, 100001):
        n = POINTS[rank]
        x = lo + (hi - lo) * torch.rand(n, 1, generator=g)
        t = torch.rand(n, 1, generator=g)
        r = residual(net, x, t).pow(2).mean()
        x0 = lo + (hi - lo) * torch.rand(128, 1, generator=g)
        u0 = net(torch.cat([x0, torch.zeros_like(x0)], 1))
        b = (u0 - torch.sin(math.pi * x0) - 0.4 * torch.sin(3 * math.pi * x0)).pow(2).mean()
        loss = r + 10 * b
        opt.zero_grad()
        loss.backward()
        for p in net.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
        if it % 20 == 0:
            total = loss.detach().clone()
            dist.all_reduce(total)
            if rank == 0:
                print(f"it {it:6d} | residual {r.item():.3e} | ic {b.item():.3e} | total {total.item()/world:.4e} | {time.time()-t0:.1f}s", flush=True)


if __name__ == "__main__":
    mp.spawn(main, args=(2,), nprocs=2)
