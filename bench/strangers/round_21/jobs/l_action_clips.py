import os
import random
import time
from collections import deque

import numpy as np
import torch
import torch.nn as nn
from rich.console import Console

console = Console(width=110, force_terminal=False)
T, H, W, CLASSES = 48, 56, 56, 6


def write_videos(root, n=48):
    os.makedirs(root, exist_ok=True)
    rng = np.random.default_rng(0)
    for i in range(n):
        label = i % CLASSES
        v = rng.integers(0, 60, (T, H, W, 3), dtype=np.uint8)
        for t in range(T):
            p = (t * (label + 1)) % (W - 12)
            v[t, 20:34, p:p + 12, label % 3] += 150
        np.save(f"{root}/v{i:04d}_{label}.npy", v)
    return sorted(os.path.join(root, f) for f in os.listdir(root))


def open_clip(path, frames=12):
    video = np.load(path, mmap_mode="r")
    start = random.randrange(0, T - frames)
    return video[start:start + frames]


def to_tensor(clips):
    x = torch.from_numpy(np.stack([np.asarray(c) for c in clips])).float() / 255
    return x.permute(0, 4, 1, 2, 3)


class HardClips:
    """Remembers the clips with the largest loss and mixes them into later batches."""

    def __init__(self, size=4096):
        self.items = deque(maxlen=size)

    def add(self, clip, label):
        self.items.append((clip, label))

    def sample(self, k):
        return random.sample(self.items, min(k, len(self.items)))


def main():
    random.seed(1)
    torch.manual_seed(1)
    paths = write_videos("clips")
    net = nn.Sequential(
        nn.Conv3d(3, 16, 3, (1, 2, 2), 1), nn.ReLU(), nn.Conv3d(16, 32, 3, 2, 1), nn.ReLU(),
        nn.Conv3d(32, 64, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(64, CLASSES))
    opt = torch.optim.SGD(net.parameters(), 0.02, momentum=0.9)
    hard = HardClips()
    for step in range(100_000):
        t0 = time.time()
        chosen = random.choices(paths, k=12)
        clips = [open_clip(p) for p in chosen]
        labels = [int(p[-5]) for p in chosen]
        for c, l in hard.sample(4):
            clips.append(c)
            labels.append(l)
        y = torch.tensor(labels)
        losses = nn.functional.cross_entropy(net(to_tensor(clips)), y, reduction="none")
        opt.zero_grad()
        losses.mean().backward()
        opt.step()
        worst = losses[:12].argmax().item()
        if step % 3 == 0:
            hard.add(clips[worst], labels[worst])
        if step % 10 == 0:
            console.print(f"[bold]{step:6d}[/] loss {losses.mean().item():.4f}  hard bank {len(hard.items):4d}  {time.time() - t0:.2f} s/step")


main()
