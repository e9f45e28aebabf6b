"""EEG sleep stages with Lightning: TensorBoard, CSV, checkpoints of the best models."""
import lightning as L
import numpy as np
import torch
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchmetrics.classification import MulticlassAccuracy


class Epochs30s(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        t = np.arange(1500) / 50
        self.y = rng.integers(0, 5, n)
        f = np.array([1, 4, 7, 11, 18])[self.y] + rng.normal(size=n) * 1.2
        self.x = (np.sin(2 * np.pi * f[:, None] * t + rng.random((n, 1)) * 6) * 0.3 + rng.normal(size=(n, 1500))).astype("float32")

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i])[None], int(self.y[i])


class Stager(L.LightningModule):
    def __init__(self, lr=5e-4):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Conv1d(1, 24, 50, 4), nn.BatchNorm1d(24), nn.ReLU(), nn.Conv1d(24, 48, 11, 2), nn.BatchNorm1d(48), nn.ReLU(),
            nn.Conv1d(48, 96, 7, 2), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Dropout(0.4), nn.Linear(384, 5),
        )
        self.acc = MulticlassAccuracy(5)

    def training_step(self, batch, _):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y, label_smoothing=0.05)
        self.log("train/loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        out = self.net(x)
        self.log("val/loss", nn.functional.cross_entropy(out, y), prog_bar=True)
        self.log("val/acc", self.acc(out, y), prog_bar=True)

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr, weight_decay=0.02)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(opt, 100)}


if __name__ == "__main__":
    L.seed_everything(5)
    train = DataLoader(Epochs30s(9600, 0), batch_size=64, shuffle=True, num_workers=1, persistent_workers=True)
    val = DataLoader(Epochs30s(960, 1), batch_size=96, num_workers=0)
    trainer = L.Trainer(
        max_epochs=100, accelerator="cpu", gradient_clip_val=1.0, log_every_n_steps=10,
        logger=[TensorBoardLogger("tb"), CSVLogger("csv", flush_logs_every_n_steps=20)],
        callbacks=[ModelCheckpoint(monitor="val/acc", mode="max", save_top_k=2), LearningRateMonitor("step")],
    )
    trainer.fit(Stager(), train, val)
