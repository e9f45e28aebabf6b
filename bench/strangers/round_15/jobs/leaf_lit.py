"""Leaf disease classifier (Lightning)."""
import io

import lightning as L
import numpy as np
import torch
from PIL import Image, ImageEnhance, ImageFilter
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Leaves(Dataset):
    """JPEG photos, augmented on the fly."""

    def __init__(self, n=400):
        rng = np.random.default_rng(3)
        self.files, self.labels = [], []
        for i in range(n):
            label = i % 5
            img = rng.integers(0, 70, (60, 80, 3)).astype("uint8")
            img[..., 1] += 100
            img[10 * label : 10 * label + 9, 20:60, 0] += 120
            buf = io.BytesIO()
            Image.fromarray(img).resize((720, 540), Image.BICUBIC).save(buf, "JPEG", quality=88)
            self.files.append(buf.getvalue())
            self.labels.append(label)

    def __len__(self):
        return len(self.files) * 50

    def __getitem__(self, i):
        i %= len(self.files)
        img = Image.open(io.BytesIO(self.files[i])).convert("RGB")
        img = img.rotate(float(torch.empty(1).uniform_(-15, 15)), resample=Image.BICUBIC)
        img = ImageEnhance.Color(img).enhance(float(torch.empty(1).uniform_(0.7, 1.3)))
        img = img.filter(ImageFilter.GaussianBlur(float(torch.empty(1).uniform_(0.2, 1.5))))
        img = img.resize((64, 64), Image.LANCZOS)
        return torch.from_numpy(np.asarray(img, dtype="float32") / 255).permute(2, 0, 1), self.labels[i]


class LeafNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 64, 3, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 5),
        )

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.log("train_loss", loss, prog_bar=True)
        if batch_idx % 10 == 0:
            self.print(f"step {self.global_step} train_loss {loss.item():.4f}")
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    L.seed_everything(11)
    loader = DataLoader(Leaves(), batch_size=16, shuffle=True, num_workers=0)
    trainer = L.Trainer(max_epochs=10, accelerator="cpu", logger=False, enable_checkpointing=False, log_every_n_steps=10, enable_progress_bar=False)
    trainer.fit(LeafNet(), loader)
