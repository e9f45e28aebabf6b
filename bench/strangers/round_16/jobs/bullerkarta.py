"""Ljudklassning av trafikbuller: log-mel till bullerklass."""
import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
import torchmetrics
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch.utils.data import DataLoader, Dataset

KLASSER = 12


class Inspelningar(Dataset):
    def __init__(self, n, fro):
        self.n, self.fro = n, fro

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(self.fro * 99991 + i)
        y = i % KLASSER
        x = torch.randn(1, 48, 80, generator=g)
        x[:, 3 * y : 3 * y + 6] += 0.9 * torch.rand(1, generator=g)
        return x, y


class Bullernat(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.nat = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(48, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d((12, 1)), nn.Flatten(), nn.Dropout(0.3), nn.Linear(768, KLASSER),
        )
        self.traff = torchmetrics.classification.MulticlassAccuracy(KLASSER)

    def training_step(self, batch, k):
        x, y = batch
        fel = F.cross_entropy(self.nat(x), y)
        self.log("fel", fel, prog_bar=True)
        return fel

    def validation_step(self, batch, k):
        x, y = batch
        ut = self.nat(x)
        self.traff(ut, y)
        self.log_dict({"val_fel": F.cross_entropy(ut, y), "val_traff": self.traff}, prog_bar=True)

    def on_validation_epoch_end(self):
        print(f"epok {self.current_epoch} klar: träffsäkerhet {float(self.traff.compute()):.3f}", flush=True)

    def configure_optimizers(self):
        o = torch.optim.AdamW(self.parameters(), lr=2e-4)
        return [o], [{"scheduler": torch.optim.lr_scheduler.OneCycleLR(o, 2e-3, total_steps=5000), "interval": "step"}]


if __name__ == "__main__":
    L.seed_everything(2)
    L.Trainer(
        max_steps=5000,
        max_epochs=-1,
        accelerator="cpu",
        num_sanity_val_steps=0,
        log_every_n_steps=10,
        logger=CSVLogger("loggar", flush_logs_every_n_steps=20),
        callbacks=[ModelCheckpoint(monitor="val_traff", mode="max", save_last=True), LearningRateMonitor("step")],
    ).fit(
        Bullernat(),
        DataLoader(Inspelningar(2400, 1), batch_size=32, shuffle=True, num_workers=1, persistent_workers=True),
        DataLoader(Inspelningar(480, 2), batch_size=48, num_workers=1, persistent_workers=True),
    )
