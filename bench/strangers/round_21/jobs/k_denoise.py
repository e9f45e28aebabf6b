"""Asynchronous (Hogwild) training of a denoiser for fluorescence images."""
import sys
import time

import torch
import torch.multiprocessing as mp
from torch import nn


def build():
    return nn.Sequential(nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, 1, 3, padding=1))


def images(n, g):
    yy, xx = torch.meshgrid(torch.arange(40.), torch.arange(40.), indexing="ij")
    clean = torch.zeros(n, 40, 40)
    for _ in range(5):
        c = torch.rand(n, 2, 1, 1, generator=g) * 40
        r = torch.rand(n, 1, 1, generator=g) * 12 + 3
        clean += torch.exp(-((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2) / r)
    gain = torch.rand(n, 1, 1, generator=g) * 30 + 4
    noisy = torch.poisson((clean + 0.1) * gain, generator=g) / gain
    return noisy[:, None], clean[:, None]


def worker(rank, model):
    torch.set_num_threads(1)
    g = torch.Generator().manual_seed(rank)
    opt = torch.optim.SGD(model.parameters(), 0.01, momentum=0.8)
    t0, part = time.time(), []
    for k in range(1, 10**6):
        x, y = images(12, g)
        loss = (model(x) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        part.append(loss.item())
        if k % 20 == 0:
            sys.stdout.write(f"w{rank} t+{time.time() - t0:.1f}s k={k} l2={sum(part) / len(part):.5f}\n")
            sys.stdout.flush()
            part.clear()


if __name__ == "__main__":
    torch.manual_seed(0)
    net = build()
    net.share_memory()
    mp.spawn(worker, (net,), nprocs=2)
