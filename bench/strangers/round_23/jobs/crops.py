import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn


def pin():
    cores = sorted(os.sched_getaffinity(0))
    local = int(os.environ.get("LOCAL_RANK", 0))
    os.sched_setaffinity(0, {cores[local % len(cores)]})


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, 2, 1), nn.GroupNorm(8, o), nn.SiLU())


def batch(gen, n):
    y = torch.randint(0, 6, (n,), generator=gen)
    x = torch.randn(n, 3, 64, 64, generator=gen) * 0.8
    grid = torch.linspace(0, 6.28, 64)
    for k in range(n):
        x[k, int(y[k]) % 3] += torch.sin(grid * (2 + int(y[k])))[None, :]
    return x, y


def worker(rank, world):
    pin()
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:41020", rank=rank, world_size=world)
    torch.set_num_threads(2)
    torch.manual_seed(0)
    net = nn.Sequential(block(3, 32), block(32, 64), block(64, 128), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 6))
    net = nn.parallel.DistributedDataParallel(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 4000)
    gen = torch.Generator().manual_seed(rank)
    for step in range(4000):
        t = time.perf_counter()
        x, y = batch(gen, 48)
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if rank == 0 and step % 4 == 0:
            print(f"step {step:5d}/4000 | loss {loss.item():.4f} | lr {sched.get_last_lr()[0]:.5f} | {1e3 * (time.perf_counter() - t):.0f} ms", flush=True)


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
