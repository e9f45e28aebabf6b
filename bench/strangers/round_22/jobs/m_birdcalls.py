import collections
import logging

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("birdcalls")

SPECIES = ["wren", "robin", "dunnock", "chiffchaff", "goldcrest"]


class Clips(Dataset):
    """Chirps with background, as log spectrograms."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        r = np.random.default_rng(i)
        y = i % len(SPECIES)
        t = np.arange(24000) / 16000
        f0 = 1500 + 700 * y + r.normal(0, 150)
        sweep = (60 + 90 * y) * np.sin(2 * np.pi * (3 + y) * t + r.uniform(0, 6))
        wave = np.sin(2 * np.pi * np.cumsum(f0 + sweep) / 16000) * (r.random() + .3)
        wave += r.normal(0, 1.0, t.size)
        frames = np.lib.stride_tricks.sliding_window_view(wave, 512)[::256] * np.hanning(512)
        spec = np.log1p(np.abs(np.fft.rfft(frames))[:, :128]).astype("f4")
        return {"clip": i, "spec": torch.from_numpy(spec)[None], "species": y}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        c = [1, 8, 16, 32]
        self.body = nn.Sequential(*[m for a, b in zip(c, c[1:]) for m in
                                    (nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2))])
        self.out = nn.Linear(32, len(SPECIES))

    def forward(self, x):
        return self.out(self.body(x).mean((2, 3)))


def main():
    torch.manual_seed(1)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    loader = DataLoader(Clips(40000), batch_size=8, shuffle=True, num_workers=1)
    per_clip = []  # (ids, losses) of every batch, for the hard-example table at the end of the epoch
    recent = collections.deque(maxlen=50)
    for epoch in range(50):
        for k, batch in enumerate(loader):
            loss = F.cross_entropy(net(batch["spec"]), batch["species"], reduction="none")
            opt.zero_grad()
            loss.mean().backward()
            opt.step()
            per_clip.append((batch["clip"], loss.detach()))
            recent.append(loss.mean().item())
            if k % 25 == 0:
                log.info("epoch %d batch %d/%d  xent %.3f", epoch, k, len(loader), sum(recent) / len(recent))
        ids = torch.cat([a for a, _ in per_clip])
        worst = torch.cat([b for _, b in per_clip]).topk(20).indices
        log.info("hardest clips: %s", ids[worst].tolist())
        per_clip.clear()


if __name__ == "__main__":
    main()
