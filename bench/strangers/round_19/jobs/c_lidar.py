"""Curb segmentation on lidar sweeps (range images)."""
import sys
import threading
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

RINGS, COLS = 16, 128


class Calibration:
    """Ring offsets of the sensor head; measured anew every few epochs, beside the training."""

    def __init__(self):
        self.mutex = threading.Lock()
        self.offsets = np.zeros(RINGS, "f4")

    def measure(self):
        with self.mutex:
            offsets = self.offsets.copy()
            for ring in range(RINGS):
                time.sleep(0.08)
                offsets[ring] = 0.9 * offsets[ring] + 0.1 * np.random.normal(scale=0.02)
            self.offsets = offsets

    def of(self):
        with self.mutex:
            return self.offsets[:, None]


class Sweeps(Dataset):
    def __init__(self, calibration, n=640):
        self.calibration, self.n = calibration, n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        curb = (rng.random(COLS) < 0.2)[None].repeat(RINGS, 0)
        sweep = rng.normal(size=(RINGS, COLS)).astype("f4") + curb * 0.7 + self.calibration.of()
        return torch.from_numpy(sweep.astype("f4"))[None], torch.from_numpy(curb.astype("f4"))


def main():
    calibration = Calibration()
    loader = DataLoader(Sweeps(calibration), batch_size=16, shuffle=True, num_workers=2)
    net = nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 1, 1))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for epoch in range(1, 500):
        if epoch % 6 == 0:
            threading.Thread(target=calibration.measure, daemon=True).start()
        seen = 0
        for number, (x, y) in enumerate(loader, 1):
            loss = nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            seen += len(x)
            if number % 10 == 0:
                sys.stdout.write(f"ep {epoch:>3} it {number:>3}/{len(loader)} sweeps {seen:>4} bce {loss.item():.3f}\n")
                sys.stdout.flush()


main()
