"""Road segmentation on aerial tiles. Tiles are JPEG in memory here, on the NAS in production."""
import argparse
import fcntl
import io
import logging
import os

import numpy as np
import torch
from PIL import Image, ImageFilter
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(format="%(levelname)s:%(process)d:%(message)s", level=logging.INFO)
ap = argparse.ArgumentParser()
ap.add_argument("--tile", type=int, default=256)
ap.add_argument("--rotate", action="store_true", help="arbitrary rotation and blur of the full tile")
ap.add_argument("--workers", type=int, default=1)
ap.add_argument("--tiles", type=int, default=60)
ap.add_argument("--index", help="folder with the shared tile index")
ap.add_argument("--skip-bad", action="store_true")
A = ap.parse_args()


def make_tile(i, size):
    rng = np.random.default_rng(i)
    a = rng.integers(60, 120, (size, size, 3), dtype=np.uint8)
    a[:, size // 3 : size // 3 + size // 12] = 200
    buf = io.BytesIO()
    Image.fromarray(a).save(buf, "JPEG", quality=90)
    raw = buf.getvalue()
    return raw[: len(raw) // 3] if A.skip_bad and i % 29 == 5 else raw  # some arrive truncated from the survey plane


class Tiles(Dataset):
    def __init__(self):
        self.raw = [make_tile(i, A.tile) for i in range(A.tiles)]

    def __len__(self):
        return 40 * len(self.raw)

    def note_use(self, i):
        """usage count per tile, shared with the other jobs on this machine"""
        with open(os.path.join(A.index, f"shard{i % 4}.idx"), "a+") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            f.write(f"{i}\n")

    def __getitem__(self, k):
        i = k % len(self.raw)
        if A.index:
            self.note_use(i)
        try:
            im = Image.open(io.BytesIO(self.raw[i])).convert("RGB")
        except OSError:
            logging.exception("tile %d unreadable, using its neighbour", i)
            return self[k + 1]
        if A.rotate:
            im = im.rotate(float(np.random.uniform(0, 360)), Image.Resampling.BICUBIC).filter(ImageFilter.GaussianBlur(3))
        x = torch.from_numpy(np.asarray(im.resize((64, 64), Image.Resampling.LANCZOS)).copy()).permute(2, 0, 1) / 255
        return x, (x.mean(0, keepdim=True) > 0.6).float()


def c(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2, self.u = c(3, 24), c(24, 48), c(72, 24)
        self.out = nn.Conv2d(24, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(nn.functional.max_pool2d(a, 2))
        return self.out(self.u(torch.cat([a, nn.functional.interpolate(b, scale_factor=2)], 1)))


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if A.index:
        os.makedirs(A.index, exist_ok=True)
    net = UNet()
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    dl = DataLoader(Tiles(), batch_size=8, shuffle=True, num_workers=A.workers)
    for epoch in range(1000):
        for it, (x, y) in enumerate(dl):
            loss = nn.functional.binary_cross_entropy_with_logits(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if it % 5 == 0:
                logging.info("Epoch [%d] iter [%d/%d] loss: %.4f", epoch, it, len(dl), loss.item())
        torch.save(net.state_dict(), "last.pth")
