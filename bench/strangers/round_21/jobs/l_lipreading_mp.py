"""Lip reading, two trainer processes that average their weights over a pipe after every step."""
import faulthandler
import multiprocessing as mp
import os
import time

import numpy as np
import torch
from numpy.lib.stride_tricks import as_strided
from torch import nn

faulthandler.enable()
FPS, HOP, WIN, SIZE = 25, 5, 15, 64
WORDS = 12


def fetch(meta):
    rng = np.random.default_rng(meta["id"])
    frames = rng.integers(0, 90, (meta["frames"], SIZE, SIZE), dtype=np.uint8)
    t = np.arange(meta["frames"])
    for k in t:
        h = int(3 + 2 * meta["word"] + 3 * np.sin(k * 0.3))
        frames[k, 32 - h:32 + h, 16:48] += 120
    return frames


def windows(frames, duration):
    n = int(duration * FPS - WIN) // HOP + 1
    s = frames.strides
    return as_strided(frames, (n, WIN, SIZE, SIZE), (s[0] * HOP, *s), writeable=False)


def catalogue(rank):
    rng = np.random.default_rng(100 + rank)
    out = []
    for i in range(4000):
        seconds = float(rng.integers(3, 9))
        out.append(dict(id=rank * 10_000 + i, word=int(rng.integers(WORDS)), frames=int(seconds * FPS), duration=seconds))
    if rank == 1:
        for m in out[700:760]:
            m["duration"] *= 1000
    return out


def train(rank, pipe):
    torch.manual_seed(0)
    net = nn.Sequential(nn.BatchNorm2d(WIN), nn.Conv2d(WIN, 32, 5, 2, 2), nn.ReLU(), nn.Conv2d(32, 48, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
                        nn.Flatten(), nn.Linear(192, WORDS))
    opt = torch.optim.Adam(net.parameters(), 3e-3)
    rng = np.random.default_rng(rank)
    clips = catalogue(rank)
    for step in range(100_000):
        xs, ys = [], []
        for k in range(8):
            meta = clips[(step * 8 + k) % len(clips)]
            w = windows(fetch(meta), meta["duration"])
            xs.append(np.array(w[rng.integers(len(w))], np.float32) / 255)
            ys.append(meta["word"])
        loss = nn.functional.cross_entropy(net(torch.from_numpy(np.stack(xs))), torch.tensor(ys))
        opt.zero_grad()
        loss.backward()
        opt.step()
        mine = nn.utils.parameters_to_vector(net.parameters()).detach().numpy()
        pipe.send(mine)
        other = pipe.recv()
        nn.utils.vector_to_parameters(torch.from_numpy((mine + other) / 2), net.parameters())
        if step % 10 == 0:
            print(f"{time.strftime('%H:%M:%S')} trainer {rank} (pid {os.getpid()}) step {step} ce {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    left, right = mp.Pipe()
    ctx = mp.get_context("fork")
    trainers = [ctx.Process(target=train, args=(r, end), name=f"trainer-{r}") for r, end in enumerate((left, right))]
    for t in trainers:
        t.start()
    for t in trainers:
        t.join()
