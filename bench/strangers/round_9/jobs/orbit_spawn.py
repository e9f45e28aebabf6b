"""Cloud mask of satellite images on two processes (mp.spawn). Rank 0 saves and reports while the other waits."""

import os
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

CLASSES = ["sea", "land", "snow", "thin cloud", "thick cloud", "shadow"]


class CloudNet(nn.Module):
    def __init__(self, bands=6, width=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(bands, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, groups=4), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 1), nn.ReLU(),
            nn.Conv2d(2 * width, len(CLASSES), 3, padding=1),
        )  # fmt: skip

    def forward(self, x):
        return self.net(x)


class Scenes:
    def __init__(self, seed, n=8, side=40):
        self.g = torch.Generator().manual_seed(seed)
        self.n, self.side = n, side
        self.colour = torch.randn(len(CLASSES), 6, generator=torch.Generator().manual_seed(0))

    def __next__(self):
        coarse = torch.randn(self.n, len(CLASSES), self.side // 8, self.side // 8, generator=self.g)
        smooth = nn.functional.interpolate(coarse, size=self.side, mode="bilinear")
        truth = smooth.argmax(1)
        image = self.colour[truth].permute(0, 3, 1, 2)
        return image + 1.5 * torch.randn(image.shape, generator=self.g), truth


def report(step, confusion):
    """Table of all classes, every now and then."""
    print(f"confusion after step {step} (rows: truth)", flush=True)
    print(" " * 12 + "".join(f"{name[:9]:>10}" for name in CLASSES), flush=True)
    for name, row in zip(CLASSES, confusion.float() / confusion.sum(1, keepdim=True).clamp(min=1)):
        print(f"{name:>12}" + "".join(f"{value:10.3f}" for value in row.tolist()), flush=True)
    recall = confusion.diag() / confusion.sum(1).clamp(min=1)
    for name, value in zip(CLASSES, recall.tolist()):
        print(f"  recall {name:<12} {value:.3f} {'#' * int(40 * value)}", flush=True)


def run(rank, world):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="30034")
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(rank)
    net = DistributedDataParallel(CloudNet())
    opt = torch.optim.AdamW(net.parameters(), lr=1e-4)
    scenes = Scenes(rank)
    confusion = torch.zeros(len(CLASSES), len(CLASSES), dtype=torch.long)
    for step in range(1, 100_001):
        image, truth = next(scenes)
        logits = net(image)
        loss = nn.functional.cross_entropy(logits, truth)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        index = truth.flatten() * len(CLASSES) + logits.argmax(1).flatten()
        confusion += torch.bincount(index, minlength=confusion.numel()).view_as(confusion)
        if step % 10 == 0 and rank == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
        if step % 100 == 0:
            dist.all_reduce(confusion)
            if rank == 0:
                report(step, confusion)
                torch.save({"net": net.module.state_dict(), "opt": opt.state_dict()}, "clouds.tmp")
                Path("clouds.tmp").replace("clouds.pt")
            confusion.zero_()
            dist.barrier()


if __name__ == "__main__":
    mp.spawn(run, args=(2,), nprocs=2)
