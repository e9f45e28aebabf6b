"""Glacier front segmentation with Lightning; scenes are decoded once and kept in a scene cache."""
import collections
import warnings
import zlib

import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

warnings.filterwarnings("ignore", ".*does not have many workers.*")
SIZE = 64


class Scenes(Dataset):
    """Scenes of the campaign, in order of date. 2019 and before are 8 bit tiles, later ones packed 16 bit rasters."""

    def __init__(self, n=200000, switch=4200):
        self.n, self.switch = n, switch
        rng = np.random.default_rng(0)
        self.tiles = [rng.integers(0, 255, (SIZE, SIZE), dtype=np.uint8) for _ in range(64)]
        big = np.cumsum(rng.integers(-3, 4, (1200, 1200)), axis=0).astype(np.int16)
        self.rasters = [zlib.compress(np.roll(big, i * 40, axis=1).tobytes(), 6) for i in range(4)]
        self.cache = collections.OrderedDict()

    def __len__(self):
        return self.n

    def raster(self, key):
        if key in self.cache:
            return self.cache[key]
        full = np.frombuffer(zlib.decompress(self.rasters[key % 4]), np.int16).reshape(1200, 1200)
        full = ((full - full.min()) / np.ptp(full) * 255).astype(np.uint8)
        self.cache[key] = full
        if len(self.cache) > 16:
            self.cache.popitem(last=False)
        return full

    def __getitem__(self, i):
        if i < self.switch:
            tile = self.tiles[i % 64]
        else:
            full = self.raster(i // 1)
            r, c = (i * 37) % 1100, (i * 91) % 1100
            tile = full[r : r + SIZE, c : c + SIZE]
        x = torch.from_numpy(tile.astype(np.float32) / 255).unsqueeze(0)
        x = (x - x.mean()) / (x.std() + 1e-6)
        return x, (x > 0).float()


class Front(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 1, 1)
        )

    def training_step(self, batch, idx):
        x, y = batch
        loss = nn.functional.binary_cross_entropy_with_logits(self.net(x), y)
        if self.global_step % 10 == 0:
            print(f"scene batch {idx} bce {loss.item():.4f}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    L.seed_everything(1)
    trainer = L.Trainer(
        accelerator="cpu", max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False
    )
    trainer.fit(Front(), DataLoader(Scenes(), batch_size=8, num_workers=0))
