"""Nuclei segmentation on tiles of whole slides; decoded slides are kept in a cache that several runs may share."""
import contextlib
import fcntl
import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchmetrics import MeanMetric

SLIDES = [f"S{n:02d}" for n in range(24)]
TILES = 40


@contextlib.contextmanager
def locked(slide):
    with open(f"cache/{slide}.lock", "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)


def decode(slide):
    rng = np.random.default_rng(int(slide[1:]))
    yy, xx = np.mgrid[:64, :64]
    out = np.zeros((TILES, 2, 64, 64), "float32")
    for tile in out:
        for _ in range(6):
            cy, cx, r = rng.uniform(4, 60), rng.uniform(4, 60), rng.uniform(3, 8)
            tile[1] = np.maximum(tile[1], (yy - cy) ** 2 + (xx - cx) ** 2 < r * r)
        tile[0] = tile[1] * 0.8 + rng.normal(0, 0.5, (64, 64))
    return out


def tiles_of(slide):
    path = f"cache/{slide}.npy"
    with locked(slide):
        if not os.path.exists(path):
            np.save(path, decode(slide))
        for tile in np.load(path, mmap_mode="r"):
            yield np.array(tile)


class Tiles(Dataset):
    def __init__(self, slides):
        self.slides, self.loaded = slides, {}

    def __len__(self):
        return len(self.slides) * TILES

    def __getitem__(self, k):
        slide = self.slides[k // TILES]
        if slide not in self.loaded:
            self.loaded = {slide: list(tiles_of(slide))}
        tile = self.loaded[slide][k % TILES]
        return tile[:1], tile[1:]


def unet():
    return nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 24, 5, padding=2), nn.ReLU(),
                         nn.Conv2d(24, 24, 5, padding=2), nn.ReLU(), nn.Conv2d(24, 1, 1))


def main():
    os.makedirs("cache", exist_ok=True)
    preview = tiles_of(SLIDES[17])
    sample = next(preview)
    print("tile", sample.shape, "mean %.3f std %.3f" % (sample[0].mean(), sample[0].std()))
    loader = DataLoader(Tiles(SLIDES), batch_size=8, num_workers=2, persistent_workers=True)
    net = unet()
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    meter = MeanMetric()
    seen = 0
    for epoch in range(100):
        for x, y in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(net((x - sample[0].mean()) / sample[0].std()), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            meter.update(loss.item())
            seen += 1
            if seen % 10 == 0:
                print(f"Epoch {epoch:02d} · batch {seen:04d} · BCE {meter.compute():.4f}")
                meter.reset()


if __name__ == "__main__":
    main()
