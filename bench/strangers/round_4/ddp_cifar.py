"""Baseline CNN on small images, data parallel.  torchrun --nproc-per-node 2 ddp_cifar.py"""
import argparse
import logging
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

log = logging.getLogger("baseline")


class SmallImages(Dataset):
    """32x32 images, class-dependent mean plus noise."""

    def __init__(self, n, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.proto = torch.randn(10, 3, 32, 32, generator=g)
        self.y = torch.randint(10, (n,), generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.proto[self.y[i]] * 0.3 + torch.randn(3, 32, 32), self.y[i]


def conv(i, o, s=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    hit = n = 0
    for x, y in loader:
        hit += (net(x).argmax(1) == y).sum().item()
        n += len(y)
    net.train()
    return hit / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=500)
    ap.add_argument("--bs", type=int, default=64)
    ap.add_argument("--workers", type=int, default=0)
    ap.add_argument("--train-size", type=int, default=12800)
    ap.add_argument("--val-size", type=int, default=5000)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(
        level=logging.INFO if rank == 0 else logging.WARNING,
        format=f"%(asctime)s [rank{rank}] %(levelname)s %(message)s",
    )
    torch.manual_seed(7)
    train, val = SmallImages(args.train_size), SmallImages(args.val_size)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, args.bs, sampler=sampler, num_workers=args.workers, drop_last=True)
    val_loader = DataLoader(val, 100)
    net = DDP(nn.Sequential(conv(3, 32), conv(32, 64, 2), conv(64, 64, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)))
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    step = 0
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        t0 = time.time()
        for x, y in loader:
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 10 == 0:
                log.info("epoch %d step %d loss %.4f (%.0f ms/step)", epoch, step, loss.item(), (time.time() - t0) * 100)
                t0 = time.time()
        if rank == 0:
            log.info("validating on %d images", len(val))
            log.info("epoch %d val_acc %.3f", epoch, evaluate(net.module, val_loader))
        dist.barrier()


if __name__ == "__main__":
    main()
