"""Licence plate reader. Plates are drawn on the fly, with weather."""

import random
import string

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter
from torch import nn
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm

torch.set_num_threads(1)
ALPHABET = string.ascii_uppercase + string.digits


class Plates(Dataset):
    def __len__(self):
        return 50_000

    def __getitem__(self, index):
        rng = random.Random(index)
        text = "".join(rng.choice(ALPHABET[: rng.randint(1, 36)]) for _ in range(7))
        plate = Image.new("RGB", (640, 180), tuple(rng.randint(0, 255) for _ in range(3)))
        pen = ImageDraw.Draw(plate)
        for i, letter in enumerate(text):
            pen.text((20 + i * 85, 60), letter, fill="white")
        plate = plate.rotate(rng.uniform(-12, 12), Image.Resampling.BICUBIC, expand=True)
        plate = plate.filter(ImageFilter.GaussianBlur(rng.uniform(2, 6)))
        plate = ImageEnhance.Contrast(plate).enhance(rng.uniform(0.5, 1.5))
        noise = np.random.default_rng(index).normal(0, 12, (plate.height, plate.width, 3))
        plate = Image.fromarray(np.clip(np.asarray(plate) + noise, 0, 255).astype(np.uint8)).resize((128, 40))
        pixels = torch.from_numpy(np.array(plate)).permute(2, 0, 1).float() / 255
        return pixels, torch.tensor([ALPHABET.index(c) for c in text])


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=2),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d((1, 7)),
        )
        self.head = nn.Linear(32, len(ALPHABET))

    def forward(self, pixels):
        return self.head(self.body(pixels).squeeze(2).transpose(1, 2))


model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loader = DataLoader(Plates(), batch_size=24, shuffle=True)
for epoch in range(10):
    bar = tqdm(loader, desc=f"epoch {epoch}", mininterval=1.0)
    for pixels, text in bar:
        logits = model(pixels)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), text.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bar.set_postfix(loss=f"{loss.item():.3f}")
