"""Tree-crown counting from drone orthomosaics: tiles are read out of raw band-interleaved scenes."""
import os
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

TILE, SIDE, SCENES = 64, 768, 4


def write_scenes(folder: Path):
    folder.mkdir(exist_ok=True)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    for s in range(SCENES):
        rng = np.random.default_rng(s)
        scene = rng.normal(40, 6, (SIDE, SIDE))
        trees = rng.uniform(0, SIDE, (900, 2))
        for cy, cx in trees:
            y0, x0 = int(max(cy - 8, 0)), int(max(cx - 8, 0))
            w = (slice(y0, y0 + 17), slice(x0, x0 + 17))
            scene[w] += 90 * np.exp(-((yy[w] - cy) ** 2 + (xx[w] - cx) ** 2) / 12)
        (folder / f"scene{s}.bil").write_bytes(scene.clip(0, 255).astype(np.uint8).tobytes())
        np.save(folder / f"scene{s}.trees.npy", trees)


class Tiles(Dataset):
    def __init__(self, folder, length=200_000):
        self.folder, self.length = Path(folder), length
        self.trees = [np.load(self.folder / f"scene{s}.trees.npy") for s in range(SCENES)]
        self.readers = {}

    def __len__(self):
        return self.length

    def reader(self, scene, row, col):
        key = (scene, row, col)
        if key not in self.readers:
            fh = open(self.folder / f"scene{scene}.bil", "rb", buffering=0)
            fh.seek(row * SIDE + col)
            self.readers[key] = fh
        return self.readers[key]

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        scene = int(rng.integers(SCENES))
        row, col = (int(v) for v in rng.integers(0, SIDE - TILE, 2))
        fh = self.reader(scene, row, col)
        start = row * SIDE + col
        tile = np.empty((TILE, TILE), np.float32)
        for r in range(TILE):
            fh.seek(start + r * SIDE)
            tile[r] = np.frombuffer(fh.read(TILE), np.uint8)
        t = self.trees[scene]
        n = ((t[:, 0] >= row) & (t[:, 0] < row + TILE) & (t[:, 1] >= col) & (t[:, 1] < col + TILE)).sum()
        return torch.from_numpy(tile / 255)[None], torch.tensor(float(n))


def net():
    layers, c = [], 1
    for w in (32, 64, 64):
        layers += [nn.Conv2d(c, w, 3, padding=1), nn.SiLU(), nn.Conv2d(w, w, 3, padding=1), nn.SiLU(), nn.AvgPool2d(2)]
        c = w
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(c * 64, 64), nn.SiLU(), nn.Linear(64, 1))


if __name__ == "__main__":
    torch.manual_seed(0)
    write_scenes(Path("mosaic"))
    data = DataLoader(Tiles("mosaic"), batch_size=6, shuffle=True, num_workers=1, persistent_workers=True)
    model = net()
    opt = torch.optim.AdamW(model.parameters(), lr=2e-4)
    seen, t0, smooth = 0, time.time(), None
    for tiles, count in data:
        for _ in range(6):  # six flips of each tile
            flips = [d for d in (2, 3) if np.random.rand() < 0.5]
            pred = model(tiles.flip(flips) if flips else tiles).squeeze(1)
            loss = nn.functional.smooth_l1_loss(pred, count)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
        seen += len(tiles)
        smooth = loss.item() if smooth is None else 0.9 * smooth + 0.1 * loss.item()
        sys.stderr.write(f"tiles {seen:>6}  huber {smooth:7.4f}  {seen / (time.time() - t0):5.1f} tiles/s\n")
