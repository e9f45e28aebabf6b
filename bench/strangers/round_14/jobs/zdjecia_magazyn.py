"""Klasyfikacja zdjęć z magazynu (kartony, palety, wózki ...)."""
import time

import numpy as np
import torch
from PIL import Image, ImageEnhance, ImageFilter
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Zdjecia(Dataset):
    def __init__(self, ile=4000, klasy=6):
        r = np.random.default_rng(0)
        self.baza = [Image.fromarray(r.integers(0, 255, (400, 600, 3), dtype=np.uint8)).filter(ImageFilter.GaussianBlur(4)) for _ in range(klasy * 2)]
        self.ile, self.klasy = ile, klasy

    def __len__(self):
        return self.ile

    def __getitem__(self, i):
        r = np.random.default_rng(i)
        k = i % self.klasy
        im = self.baza[k * 2 + int(r.integers(2))]
        im = im.rotate(float(r.uniform(-20, 20)), resample=Image.BICUBIC)
        im = ImageEnhance.Color(im).enhance(float(r.uniform(0.6, 1.4)))
        im = ImageEnhance.Contrast(im).enhance(float(r.uniform(0.6, 1.4)))
        im = im.filter(ImageFilter.GaussianBlur(float(r.uniform(0.5, 3))))
        im = im.resize((64, 64), Image.LANCZOS)
        return torch.from_numpy(np.asarray(im).copy()).permute(2, 0, 1).float() / 255 - 0.5, k


torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 16, 3, 2), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.BatchNorm2d(32), nn.ReLU(),
                      nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 6))
opt = torch.optim.Adam(model.parameters(), 1e-3)
ladowarka = DataLoader(Zdjecia(), batch_size=16, shuffle=True)
print("Start treningu")
for epoka in range(50):
    poczatek = time.time()
    for nr, (x, y) in enumerate(ladowarka, 1):
        strata = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        strata.backward()
        opt.step()
        if nr % 5 == 0:
            print(f"epoka {epoka} partia {nr}/{len(ladowarka)} strata {strata.item():.4f} czas {time.time() - poczatek:.1f}s")
