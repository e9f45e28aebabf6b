"""Cloud cover from satellite tiles (Lightning). The tile store refuses a request now and then; a read is tried again."""
import random
import time
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

warnings.filterwarnings("ignore")


class TileStore:
    def get(self, key):
        if random.random() < 0.0006:
            raise OSError(f"503 slow down: tile {key}")
        g = torch.Generator().manual_seed(key)
        cover = torch.rand(1, generator=g)
        tile = torch.randn(3, 28, 28, generator=g)
        tile[:, : int(28 * cover)] += 1.5
        return tile, cover


class Tiles(Dataset):
    def __init__(self, first, n):
        self.first, self.n, self.store = first, n, TileStore()

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        for attempt in range(5):
            try:
                return self.store.get(self.first + k)
            except OSError as e:
                print(f"WARN {e}; attempt {attempt + 1}/5", flush=True)
                time.sleep(0.05 * 2 ** attempt)
        return self.store.get(self.first + k)


class Cover(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, 32, 3, stride=2), nn.ReLU(), nn.Conv2d(32, 32, 3, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(288, 1))

    def training_step(self, batch, k):
        loss = nn.functional.l1_loss(self.net(batch[0]).sigmoid(), batch[1])
        if k % 25 == 0:
            print(f"epoch {self.current_epoch} tile batch {k} l1 {loss.item():.4f}", flush=True)
        return loss

    def validation_step(self, batch, k):
        self.log("val_l1", nn.functional.l1_loss(self.net(batch[0]).sigmoid(), batch[1]))

    def on_validation_epoch_end(self):
        print(f"epoch {self.current_epoch} val_l1 {float(self.trainer.callback_metrics.get('val_l1', 0)):.4f}", flush=True)

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=8e-4)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 6)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    L.seed_everything(3, verbose=False)
    loader = lambda first, n, w: DataLoader(Tiles(first, n), 64, num_workers=w, shuffle=first == 0, persistent_workers=w > 0)
    L.Trainer(accelerator="cpu", max_epochs=1000, max_time="00:00:02:50", logger=False, enable_progress_bar=False, enable_model_summary=False,
              num_sanity_val_steps=0).fit(Cover(), loader(0, 9600, 3), loader(1_000_000, 960, 0))
