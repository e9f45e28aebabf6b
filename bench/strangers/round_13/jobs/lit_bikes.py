"""Bike-share demand, LSTM on hourly counts (Lightning)."""
import lightning as L
import numpy as np
import torch
import torchmetrics
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Hours(Dataset):
    def __init__(self, start, n):
        t = np.arange(start, start + n + 72)
        rng = np.random.default_rng(start)
        day = np.sin(t / 24 * 2 * np.pi) + 0.5 * np.sin(t / 168 * 2 * np.pi)
        self.y = (2 + day + rng.gamma(2, 0.2, len(t))).astype("float32")
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.y[i : i + 72, None], self.y[i + 72]


class Demand(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 48, num_layers=2, batch_first=True, dropout=0.1)
        self.head = nn.Linear(48, 1)
        self.mae = torchmetrics.MeanAbsoluteError()

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1]).squeeze(-1)

    def training_step(self, b, _):
        loss = nn.functional.huber_loss(self(b[0]), b[1])
        self.log("train_loss", loss)
        return loss

    def validation_step(self, b, _):
        self.mae(self(b[0]), b[1])
        self.log("val_mae", self.mae)

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), 2e-3)
        return [opt], [torch.optim.lr_scheduler.CosineAnnealingLR(opt, 300)]


class Report(Callback):
    def on_validation_end(self, trainer, m):
        v = trainer.callback_metrics
        if "train_loss" in v:
            print(f"epoch {trainer.current_epoch:3d}  huber {v['train_loss']:.4f}  val MAE {v['val_mae']:.4f}")


if __name__ == "__main__":
    L.seed_everything(8)
    tr = DataLoader(Hours(0, 6000), batch_size=64, shuffle=True, num_workers=1, persistent_workers=True)
    va = DataLoader(Hours(7000, 1200), batch_size=128)
    L.Trainer(
        max_epochs=300, accelerator="cpu", enable_progress_bar=False, logger=CSVLogger("logs", flush_logs_every_n_steps=100),
        callbacks=[Report(), ModelCheckpoint(monitor="val_mae", save_top_k=2)], log_every_n_steps=10,
    ).fit(Demand(), tr, va)
