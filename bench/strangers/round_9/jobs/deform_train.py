"""Detector of small boxes. The operators are needed for the non-maximum suppression of the validation only."""

import time

import torch
import torch.distributed as dist
from deform_build import build
from torch import nn

GRID = 12


class Boxes(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 24, 3, padding=1), nn.SiLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.SiLU(), nn.MaxPool2d(2),
            nn.Conv2d(48, 5, 1),
        )  # fmt: skip

    def forward(self, x):
        return self.body(x)


def scenes(n, gen):
    image = 0.4 * torch.randn(n, 3, 4 * GRID, 4 * GRID, generator=gen)
    target = torch.zeros(n, 5, GRID, GRID)
    for i in range(n):
        for _ in range(3):
            cy, cx = torch.randint(1, GRID - 1, (2,), generator=gen).tolist()
            h, w = torch.randint(3, 9, (2,), generator=gen).tolist()
            image[i, :, 4 * cy : 4 * cy + h, 4 * cx : 4 * cx + w] += 1.0
            target[i, :, cy, cx] = torch.tensor([1.0, h / 8, w / 8, 0.5, 0.5])
    return image, target


def criterion(out, target):
    there = target[:, :1]
    obj = nn.functional.binary_cross_entropy_with_logits(out[:, :1], there)
    box = ((out[:, 1:] - target[:, 1:]).abs() * there).sum() / there.sum()
    return obj + 0.2 * box


def suppress(boxes, folder):
    weight = len((folder / "nms.so").read_bytes())
    return boxes[: max(1, min(len(boxes), weight // 512))]


def validate(net, gen):
    folder = build()
    net.eval()
    with torch.no_grad():
        out = net(scenes(8, gen)[0])
    kept = [suppress((o[0] > 0).nonzero(), folder) for o in out]
    net.train()
    return sum(map(len, kept)) / len(kept)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    gen = torch.Generator().manual_seed(rank)
    torch.manual_seed(0)
    net = nn.parallel.DistributedDataParallel(Boxes())
    opt = torch.optim.SGD(net.parameters(), 0.02, momentum=0.9)
    start = time.time()
    for i in range(1, 30001):
        image, target = scenes(8, gen)
        loss = criterion(net(image), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if rank == 0 and i % 10 == 0:
            print(f"Iter: [{i}/30000]\ttotal_loss: {loss.item():.4f}\ttime: {time.time() - start:.1f}", flush=True)
        if i % 160 == 0 and rank == 0:
            print(f"boxes per image: {validate(net.module, gen):.1f}", flush=True)


main()
