"""Rooftop segmentation on aerial tiles, one process per replica (mp.spawn + gloo)."""
import argparse
import os
import signal
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel


def pin_replica(replica, replicas):
    """Give each replica a contiguous block of cores."""
    cores = sorted(os.sched_getaffinity(0))
    block = max(1, len(cores) // replicas)
    start = (replica // replicas) * block
    os.sched_setaffinity(0, cores[start:start + block])
    torch.set_num_threads(os.cpu_count())


class RoofNet(nn.Module):
    def __init__(self, width=10):
        super().__init__()
        self.down1 = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU())
        self.down2 = nn.Sequential(nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.ReLU())
        self.mid = nn.Sequential(nn.Conv2d(2 * width, 2 * width, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.head = nn.Conv2d(2 * width, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.up(self.mid(self.down2(a)))
        return self.head(torch.cat([a, b], 1))


def tiles(generator, n):
    x = torch.rand(n, 3, 48, 48, generator=generator) * 0.4
    y = torch.zeros(n, 1, 48, 48)
    for i in range(n):
        r, c = torch.randint(4, 26, (2,), generator=generator).tolist()
        h, w = torch.randint(8, 20, (2,), generator=generator).tolist()
        x[i, 0, r:r + h, c:c + w] += 0.5
        y[i, 0, r:r + h, c:c + w] = 1
    return x, y


def replica_main(replica, args):
    signal.alarm(300)
    pin_replica(replica, args.replicas)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    dist.init_process_group("gloo", rank=replica, world_size=args.replicas)
    torch.manual_seed(7)
    net = DistributedDataParallel(RoofNet())
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
    generator = torch.Generator().manual_seed(100 + replica)
    pool = [tiles(generator, 4) for _ in range(12)]
    begin = last = time.time()
    step = 0
    go_on = torch.ones(1)
    while go_on.item():
        x, y = pool[step % len(pool)]
        loss = F.binary_cross_entropy_with_logits(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        if step % 2 == 0:
            if replica == 0:
                now = time.time()
                print(f"[{time.strftime('%H:%M:%S')}] it {step:5d} | loss {loss.item():.4f} | {2 / (now - last):.2f} it/s", flush=True)
                last = now
            go_on = torch.tensor([float(time.time() - begin < args.seconds)])
            dist.broadcast(go_on, 0)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--port", type=int, default=33501)
    parser.add_argument("--seconds", type=float, default=180)
    args = parser.parse_args()
    print("tegels:", 12 * 4 * args.replicas, "replica's:", args.replicas, flush=True)
    mp.spawn(replica_main, args=(args,), nprocs=args.replicas)
