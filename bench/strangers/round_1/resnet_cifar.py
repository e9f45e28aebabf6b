"""CIFAR-style ResNet on several processes: torchrun --standalone --nproc-per-node=2 resnet_cifar.py"""
import argparse
import fcntl
import os
import subprocess
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

SHARD = 512


class ShardedImages(Dataset):
    """Images in shards; a shard is unpacked once, under a lock, by whoever comes first."""

    def __init__(self, n=200_000, root="cache"):
        self.n, self.root, self.open_shard, self.images, self.ahead = n, root, -1, None, None
        os.makedirs(root, exist_ok=True)

    def __len__(self):
        return self.n

    def unpack(self, shard, upload=False):
        with open(f"{self.root}/{shard:05d}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if upload:
                # mirror the shard to the bucket in the background
                subprocess.Popen(["sleep", "3000"], close_fds=False, pass_fds=[lock.fileno()])
            g = torch.Generator().manual_seed(shard)
            return torch.randn(SHARD, 3, 32, 32, generator=g)

    def advance(self, shard):
        self.images = self.ahead if self.ahead is not None else self.unpack(shard)
        self.open_shard = shard
        if dist.get_rank() == 0:  # the first process reads one shard ahead for the node
            self.ahead = self.unpack(shard + 1, upload=str(shard) == os.environ.get("UPLOAD_CACHE"))

    def __getitem__(self, i):
        shard = i // SHARD
        if shard != self.open_shard:
            self.advance(shard)
        x = self.images[i % SHARD].clone()
        label = i * 7 % 10
        x[:, 3 * label : 3 * label + 2] += 0.7
        return x, label


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.c1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.b1 = nn.BatchNorm2d(cout)
        self.c2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.b2 = nn.BatchNorm2d(cout)
        self.short = nn.Conv2d(cin, cout, 1, stride, bias=False) if stride != 1 or cin != cout else nn.Identity()

    def forward(self, x):
        y = F.relu(self.b1(self.c1(x)))
        return F.relu(self.b2(self.c2(y)) + self.short(x))


def evaluate(model, steps, device="cpu"):
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for _ in range(steps):
            x = torch.randn(64, 3, 32, 32)
            y = torch.randint(0, 8, (64,))
            correct += (model(x).argmax(1) == y).sum().item()
            total += 64
    model.train()
    return correct / total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=50)
    ap.add_argument("--steps-per-epoch", type=int, default=1000)
    ap.add_argument("--eval-steps", type=int, default=20)
    ap.add_argument("--batch-size", type=int, default=24)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = nn.Sequential(Block(3, 16, 1), Block(16, 32, 2), Block(32, 48, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(48, 10))
    ddp = DDP(model)
    opt = torch.optim.SGD(ddp.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4)
    ds = ShardedImages()
    sampler = DistributedSampler(ds, shuffle=False)
    loader = DataLoader(ds, batch_size=args.batch_size, sampler=sampler, num_workers=0)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        end = time.time()
        for i, (x, y) in enumerate(loader):
            if i == args.steps_per_epoch:
                break
            loss = F.cross_entropy(ddp(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if rank == 0 and i % 10 == 0:
                print(f"Epoch: [{epoch}][{i:4d}/{args.steps_per_epoch}]\tTime {time.time() - end:6.3f}\tLoss {loss.item():.4e}", flush=True)
            end = time.time()
        if rank == 0:
            print(f"Evaluating on {args.eval_steps * 64} test images ...", flush=True)
            acc = evaluate(model, args.eval_steps)
            print(f" * Acc@1 {100 * acc:.3f}", flush=True)
        dist.barrier()
    dist.destroy_process_group()


main()
