"""Phase-contrast focus estimation with mining of hard tiles."""
import heapq
import itertools
import os
import random

import numpy as np
import torch
from torch import nn

EDGE, PER_STACK = 64, 60


def write_stacks(folder, n):
    os.makedirs(folder, exist_ok=True)
    for k in range(n):
        rng = np.random.default_rng(k)
        z = rng.uniform(0, 1, PER_STACK)
        spec = np.fft.rfft2(rng.normal(size=(PER_STACK, EDGE, EDGE)))
        fy, fx = np.fft.fftfreq(EDGE)[:, None], np.fft.rfftfreq(EDGE)[None]
        blur = np.exp(-(fy ** 2 + fx ** 2)[None] * 120 * z[:, None, None])
        img = np.fft.irfft2(spec * blur, s=(EDGE, EDGE)).astype("f4")
        img += rng.normal(0, 0.1, img.shape)
        np.save(f"{folder}/stack{k:03d}.npy", img.astype("f4"))
        np.save(f"{folder}/stack{k:03d}.z.npy", z.astype("f4"))


class Stacks:
    def __init__(self, folder, n):
        self.folder, self.n = folder, n
        self.z = [np.load(f"{folder}/stack{k:03d}.z.npy") for k in range(n)]

    def tiles(self, k, size):
        stack = np.load(f"{self.folder}/stack{k:03d}.npy", mmap_mode="r")
        return [(stack[i], self.z[k][i]) for i in random.sample(range(PER_STACK), size)]


class HardTiles:
    def __init__(self, capacity):
        self.capacity, self.heap, self.ids = capacity, [], itertools.count()

    def offer(self, errors, tiles):
        worst = int(np.argmax(errors))
        heapq.heappush(self.heap, (float(errors[worst]), next(self.ids), tiles[worst]))
        while len(self.heap) > self.capacity:
            heapq.heappop(self.heap)

    def draw(self, size):
        return [t for _, _, t in random.sample(self.heap, min(size, len(self.heap)))]


net = nn.Sequential(nn.Conv2d(1, 32, 7, stride=2, padding=3), nn.ReLU(), nn.Conv2d(32, 64, 5, stride=2, padding=2),
                    nn.ReLU(), nn.Conv2d(64, 96, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                    nn.Linear(96, 1))
opt = torch.optim.SGD(net.parameters(), 0.005, momentum=0.9)
write_stacks("stacks", 20)
stacks, hard = Stacks("stacks", 20), HardTiles(6000)
mean = 0.1
for it in range(1, 100_000):
    fresh = stacks.tiles(random.randrange(stacks.n), 40)
    batch = fresh + hard.draw(8)
    x = torch.from_numpy(np.stack([t for t, _ in batch]))[:, None]
    z = torch.tensor(np.array([v for _, v in batch]))
    err = (net(x).squeeze(1) - z).abs()
    opt.zero_grad()
    err.mean().backward()
    opt.step()
    hard.offer(err.detach().numpy()[:len(fresh)], fresh)
    mean = 0.95 * mean + 0.05 * err.mean().item()
    if it % 10 == 0:
        print(f"iteration {it} | focus error {mean * 100:.2f} um | {len(hard.heap)} hard tiles")
