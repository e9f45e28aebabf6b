"""Keyword spotting on synthetic clips; spectrograms are cached in shards."""
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

COMPACT = "import fcntl,sys,time; f=open(sys.argv[1],'w'); fcntl.flock(f,fcntl.LOCK_EX); time.sleep(float(sys.argv[2]))"


class Clips(Dataset):
    def __init__(self, n, shards):
        self.n, self.shards = n, shards

    def __len__(self):
        return self.n

    def spectrogram(self, i):
        t = np.linspace(0, 1, 4000, dtype=np.float32)
        wave = np.sin(2 * np.pi * (50 + 20 * (i % 10)) * t) + 0.1 * np.random.randn(4000)
        return np.abs(np.fft.rfft(wave.reshape(20, 200))).astype(np.float32)

    def __getitem__(self, i):
        with open(self.shards / f"shard_{i * 8 // self.n:02d}.lck", "w") as f:
            fcntl.flock(f, fcntl.LOCK_SH)
            return self.spectrogram(i), i % 10


def main():
    shards = Path("spectro")
    shards.mkdir(exist_ok=True)
    minutes = float(sys.argv[1])
    compactor = subprocess.Popen([sys.executable, "-c", COMPACT, str(shards / "shard_02.lck"), str(60 * minutes)])
    data = Clips(16000, shards)
    loader = DataLoader(data, batch_size=16, num_workers=2, prefetch_factor=2)
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(20 * 101, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    opt = torch.optim.Adam(net.parameters())
    for epoch in range(5):
        for b, (x, y) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            time.sleep(0.06)
            if b % 25 == 0:
                print(f"Epoch {epoch} [{b * 16}/{len(data)}] loss: {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
