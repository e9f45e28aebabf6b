"""部品の外観検査: 良品・不良品の分類 (Lightning)"""
import time

import lightning as L
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter
from torch.utils.data import DataLoader, Dataset


class Buhin(Dataset):
    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        r = np.random.default_rng(self.seed * 1_000_000 + i)
        y = int(r.random() < 0.5)
        img = Image.fromarray(r.integers(90, 160, (512, 512, 3), dtype=np.uint8))
        d = ImageDraw.Draw(img)
        d.ellipse([100, 100, 410, 410], outline=(40, 40, 40), width=14)
        if y:
            a = r.integers(120, 380, 4)
            d.line(a.tolist(), fill=(230, 220, 200), width=22)
        img = img.filter(ImageFilter.GaussianBlur(float(r.uniform(1, 4))))
        img = img.rotate(float(r.uniform(-180, 180)), resample=Image.Resampling.BICUBIC)
        img = ImageEnhance.Contrast(img).enhance(float(r.uniform(0.7, 1.3)))
        img = img.filter(ImageFilter.MedianFilter(3))
        img = img.resize((48, 48), Image.Resampling.LANCZOS)
        return torch.from_numpy(np.asarray(img).copy()).permute(2, 0, 1).float() / 255 - 0.5, y


class Kensa(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 12, 3, stride=2), nn.ReLU(), nn.Conv2d(12, 24, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(96, 2)
        )
        self.mae = time.time()

    def training_step(self, batch, k):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        if k % 4 == 0:
            ima = time.time()
            print(f"エポック {self.current_epoch} バッチ {k} 損失 {loss.item():.4f} ({ima - self.mae:.2f} 秒)", flush=True)
            self.mae = ima
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-3)


if __name__ == "__main__":
    L.seed_everything(5)
    loader = DataLoader(Buhin(960, 1), batch_size=8, shuffle=True, num_workers=0)
    trainer = L.Trainer(max_epochs=100, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(Kensa(), loader)
