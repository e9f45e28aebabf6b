"""Détection de défauts sur images de tissu (Lightning)."""
import random
from pathlib import Path

import lightning as L
import numpy as np
import torch
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter
from torch import nn
from torch.utils.data import DataLoader, Dataset

DOSSIER = Path("images")


def preparer(n=48):
    DOSSIER.mkdir(exist_ok=True)
    gen = np.random.default_rng(0)
    for i in range(n):
        fond = gen.integers(90, 160, (48, 64, 3), dtype=np.uint8)
        img = Image.fromarray(fond).resize((1024, 768), Image.BICUBIC)
        if i % 2:
            a, b = gen.integers(100, 600, 2)
            ImageDraw.Draw(img).line((int(a), int(b), int(a) + 350, int(b) + 90), fill=(20, 20, 30), width=26)
        img.save(DOSSIER / f"t{i:03d}_{i % 2}.jpg", quality=92)


class Tissu(Dataset):
    def __init__(self):
        self.fichiers = sorted(DOSSIER.glob("*.jpg"))

    def __len__(self):
        return 4000

    def __getitem__(self, i):
        f = self.fichiers[i % len(self.fichiers)]
        img = Image.open(f).convert("RGB")
        img = img.rotate(random.uniform(-25, 25), resample=Image.BICUBIC)
        img = img.filter(ImageFilter.GaussianBlur(random.uniform(0.5, 4)))
        img = ImageEnhance.Contrast(img).enhance(random.uniform(0.7, 1.3))
        img = ImageEnhance.Color(img).enhance(random.uniform(0.7, 1.3))
        img = img.resize((64, 64), Image.LANCZOS)
        x = torch.from_numpy(np.asarray(img).copy()).permute(2, 0, 1).float() / 255
        return x, int(f.stem[-1])


class Modele(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.reseau = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 2))

    def training_step(self, lot, idx):
        x, y = lot
        perte = nn.functional.cross_entropy(self.reseau(x), y)
        self.log("perte", perte, prog_bar=True)
        if idx % 5 == 0:
            print(f" lot {idx} : perte {perte.item():.4f}")
        return perte

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)


if __name__ == "__main__":
    L.seed_everything(1)
    preparer()
    chargeur = DataLoader(Tissu(), batch_size=16, shuffle=True)
    entraineur = L.Trainer(max_epochs=50, accelerator="cpu", logger=False, enable_checkpointing=False)
    entraineur.fit(Modele(), chargeur)
