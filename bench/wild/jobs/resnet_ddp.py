"""DDP with torchrun in the manner of timm's train.py: its meters, its cosine schedule, its kind of lines."""

import logging
import math
import time

import torch
import torch.distributed as dist
from samples import Pictures
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

logger = logging.getLogger("train")


class AverageMeter:
    def __init__(self):
        self.val, self.sum, self.count = 0.0, 0.0, 0

    def update(self, val, n=1):
        self.val, self.sum, self.count = val, self.sum + val * n, self.count + n

    @property
    def avg(self):
        return self.sum / self.count


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)
        self.bn1, self.bn2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)

    def forward(self, x):
        return torch.relu(x + self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x))))))


def main():
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    stem = nn.Conv2d(3, 32, 3, stride=2, padding=1)
    model = nn.Sequential(stem, Block(32), Block(32), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
    model = DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    data = Pictures(3200)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=8, sampler=sampler, num_workers=1, drop_last=True)
    for epoch in range(100):
        sampler.set_epoch(epoch)
        for group in optimizer.param_groups:
            group["lr"] = 0.5e-3 * (1 + math.cos(math.pi * epoch / 100))
        losses, batch_time = AverageMeter(), AverageMeter()
        end = time.time()
        for index, (x, y) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            batch_time.update(time.time() - end)
            end = time.time()
            if index % 5 == 0:
                reduced = loss.detach().clone()
                dist.all_reduce(reduced)
                losses.update(reduced.item() / world, x.size(0))
                if rank == 0:
                    logger.info(
                        f"Train: {epoch} [{index:>4d}/{len(loader)} ({100 * index / (len(loader) - 1):>3.0f}%)]  "
                        f"Loss: {losses.val:#.3g} ({losses.avg:#.3g})  "
                        f"Time: {batch_time.val:.3f}s, {x.size(0) * world / batch_time.val:>7.2f}/s  "
                        f"LR: {optimizer.param_groups[0]['lr']:.3e}"
                    )


main()
