"""Defect classifier on a folder of photographs."""

import argparse
import io
import time

import numpy as np
import torch
from PIL import Image, ImageFilter
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Photos(Dataset):
    def __init__(self, count=200, side=640):
        rng = np.random.default_rng(0)
        self.files = []
        for _ in range(12):
            small = Image.fromarray(rng.integers(0, 255, (80, 80, 3), dtype="uint8"))
            buf = io.BytesIO()
            small.resize((side, side)).save(buf, "JPEG", quality=92)
            self.files.append(buf.getvalue())
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        img = Image.open(io.BytesIO(self.files[i % 12])).convert("RGB")
        img = img.filter(ImageFilter.GaussianBlur(2)).rotate(i % 30, Image.Resampling.BICUBIC).resize((32, 32))
        return torch.from_numpy(np.asarray(img).copy()).permute(2, 0, 1).float() / 255, i % 2


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=1000)
    ap.add_argument("--bs", type=int, default=8)
    o = ap.parse_args()
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.Conv2d(8, 8, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(392, 2)
    )
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    it = 0
    for epoch in range(o.epochs):
        for x, y in DataLoader(Photos(), batch_size=o.bs, shuffle=True):
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            it += 1
            if it % 2 == 0:
                print(f"{time.strftime('%H:%M:%S')} e{epoch} it{it} loss={loss.item():.4f}")


if __name__ == "__main__":
    main()
