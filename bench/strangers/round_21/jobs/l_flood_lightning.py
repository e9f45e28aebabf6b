import warnings

import lightning as L
import numpy as np
import torch
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, Dataset

warnings.filterwarnings("ignore")


class Flood(Dataset):
    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.default_rng(self.seed * 100_000 + i)
        height = np.kron(rng.normal(size=(8, 8)), np.ones((8, 8)))
        for _ in range(2):
            height = (height + np.roll(height, 1, 0) + np.roll(height, 1, 1)) / 3
        water = height < -0.25
        vv = rng.gamma(4, 0.25, water.shape) * np.where(water, 0.35, 1.0)
        vh = rng.gamma(4, 0.25, water.shape) * np.where(water, 0.5, 0.9)
        return torch.tensor(np.stack([vv, vh]), dtype=torch.float32), torch.tensor(water[None], dtype=torch.float32)


class Segmenter(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(2, 48, 5, 1, 2), nn.ReLU(), nn.Conv2d(48, 64, 3, 2, 1), nn.ReLU())
        self.up = nn.Sequential(nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.ReLU(), nn.Conv2d(32, 1, 3, 1, 1))

    def forward(self, x):
        return self.up(self.down(x))

    def training_step(self, batch, _):
        x, y = batch
        loss = nn.functional.binary_cross_entropy_with_logits(self(x), y)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        p = self(x) > 0
        inter, union = (p & (y > 0)).sum(), (p | (y > 0)).sum()
        self.log("iou", inter / union.clamp(min=1), prog_bar=True)

    def configure_optimizers(self):
        opt = torch.optim.Adam(self.parameters(), 4e-4)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.StepLR(opt, 10, 0.7)}


class Lines(Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, i):
        if i % 10 == 0:
            print(f"ep {trainer.current_epoch} it {i}/{trainer.num_training_batches} loss={outputs['loss'].item():.4f}", flush=True)

    def on_validation_end(self, trainer, module):
        if not trainer.sanity_checking:
            print(f"ep {trainer.current_epoch} val iou={trainer.callback_metrics['iou'].item():.4f}", flush=True)


if __name__ == "__main__":
    L.seed_everything(1, verbose=False)
    train = DataLoader(Flood(960, 1), batch_size=16, shuffle=True, num_workers=1, persistent_workers=True)
    val = DataLoader(Flood(160, 2), batch_size=32, num_workers=1)
    L.Trainer(max_epochs=500, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
              callbacks=[Lines(), ModelCheckpoint("ckpt", save_top_k=2, monitor="iou", mode="max")]).fit(Segmenter(), train, val)
