"""Bird call detector: log-mel clips from a rolling field recording, small conv net."""
import argparse
import queue
import threading
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SR, WIN, HOP, BINS = 8000, 256, 128, 64


class Block:
    def __init__(self, shape, number):
        self.data = np.empty(shape, np.float32)
        self.number = number


class BufferPool:
    """Hands out scratch memory for the clips, in slabs by length."""

    SLAB = 16

    def __init__(self):
        self._lock = threading.Lock()
        self._free = {}
        self._made = 0
        self._since = {}
        self.oldest = 0.0

    def acquire(self, shape):
        with self._lock:
            stack = self._free.setdefault(shape, [])
            if not stack:
                stack.extend([Block(shape, self._made + i) for i in range(self.SLAB)])
                self._made += self.SLAB
            block = stack.pop()
            now = time.monotonic()
            self._since[block.number] = now
            ages = sorted([now - t, number] for number, t in self._since.items())
            self.oldest = max(self.oldest, ages[-1][0])
            return block

    def release(self, block):
        with self._lock:
            del self._since[block.number]
            self._free[block.data.shape].append(block)


POOL = BufferPool()


class Clip:
    def __init__(self, samples, label):
        self.block = POOL.acquire((samples,))
        self.wave = self.block.data
        self.label = label
        self.segments = [Segment(self, i) for i in range(2)]

    def __del__(self):
        POOL.release(self.block)


class Segment:
    def __init__(self, clip, index):
        self.clip = clip
        start = index * (len(clip.wave) // 2)
        self.span = slice(start, start + SR // 2)

    def logspec(self, window):
        x = self.clip.wave[self.span]
        n = 1 + (len(x) - WIN) // HOP
        frames = np.lib.stride_tricks.as_strided(x, (n, WIN), (HOP * 4, 4)) * window
        return np.log1p(np.abs(np.fft.rfft(frames, axis=1))[:, :BINS])


def record(rng, seconds):
    n = int(SR * seconds)
    label = int(rng.integers(3))
    clip = Clip(n, label)
    t = np.arange(n, dtype=np.float32) / SR
    f0 = (900, 1500, 2300)[label] * rng.uniform(0.9, 1.1)
    np.copyto(clip.wave, np.sin(2 * np.pi * (f0 * t + 6 * np.sin(2 * np.pi * 6 * t))))
    clip.wave += rng.normal(0, 0.8, n).astype(np.float32)
    return clip


def reader(out, batch, seed):
    rng = np.random.default_rng(seed)
    window = np.hanning(WIN).astype(np.float32)
    while True:
        xs, ys = [], []
        for _ in range(batch):
            clip = record(rng, rng.integers(10, 40) / 10)
            for seg in clip.segments:
                xs.append(seg.logspec(window))
                ys.append(clip.label)
        out.put((torch.tensor(np.stack(xs), dtype=torch.float32), torch.tensor(ys)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--steps", type=int, default=8000)
    a = p.parse_args()
    torch.manual_seed(1)
    net = nn.Sequential(nn.Conv1d(BINS, 48, 5), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(48, 48, 5), nn.ReLU(),
                        nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(48, 3))
    opt = torch.optim.AdamW(net.parameters(), 1e-3)
    print(f"model with {sum(w.numel() for w in net.parameters())} weights, batches of {2 * a.batch}", flush=True)
    q = queue.Queue(4)
    threading.Thread(target=reader, args=(q, a.batch, 5), daemon=True, name="reader").start()
    begin = time.time()
    for step in range(1, a.steps + 1):
        x, y = q.get()
        loss = F.cross_entropy(net(x.transpose(1, 2)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 2 == 0:
            print(f"[{time.time() - begin:7.1f}s] it={step:05d} xent={loss.item():.4f}", flush=True)


main()
