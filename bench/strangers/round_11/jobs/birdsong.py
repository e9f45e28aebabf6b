"""Bird call classifier on gzip-packed clips."""
import gzip
import random
import subprocess
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

ROOT = Path("clips")


def make_corpus(n=600):
    ROOT.mkdir(exist_ok=True)
    rng = np.random.default_rng(3)
    items = []
    for i in range(n):
        label = int(rng.integers(6))
        seconds = 0.4 if i != 391 else 40.0
        t = np.arange(int(8000 * seconds)) / 8000
        wave = np.sin(2 * np.pi * (300 + 150 * label) * t) + 0.6 * rng.standard_normal(len(t))
        path = ROOT / f"xc{i:05d}.pcm.gz"
        path.write_bytes(gzip.compress(wave.astype("<f4").tobytes(), 1))
        items.append((path, label))
    return items


def unpack(path):
    p = subprocess.Popen(["gzip", "-dc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdin.write(path.read_bytes())
    p.stdin.close()
    raw = p.stdout.read()
    p.wait()
    return np.frombuffer(raw, "<f4")


class Clips(Dataset):
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        path, label = self.items[i]
        wave = unpack(path)
        start = random.randint(0, len(wave) - 2048)
        return torch.tensor(wave[start:start + 2048]), label


def main():
    items = make_corpus()
    net = nn.Sequential(nn.Unflatten(1, (1, 2048)), nn.Conv1d(1, 16, 33, 4), nn.ReLU(), nn.Conv1d(16, 32, 17, 4),
                        nn.ReLU(), nn.AdaptiveAvgPool1d(8), nn.Flatten(), nn.Linear(256, 6))
    opt = torch.optim.AdamW(net.parameters(), 3e-4)
    it = 0
    for epoch in range(200):
        for wave, label in DataLoader(Clips(items), batch_size=8, num_workers=2):
            loss = nn.functional.cross_entropy(net(wave), label)
            opt.zero_grad()
            loss.backward()
            opt.step()
            it += 1
            time.sleep(0.1)
            print(f"[birdsong] ep {epoch} it {it} ce {loss.item():.3f}")


if __name__ == "__main__":
    main()
