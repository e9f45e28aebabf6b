"""Lightning: a module, a data module and a Trainer; DDP with --devices 2."""

import argparse

import lightning as L
import torch
import torchmetrics
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from samples import Pictures
from torch import nn
from torch.utils.data import DataLoader


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(4),
            nn.Flatten(),
            nn.Linear(1024, 10),
        )
        self.accuracy = torchmetrics.Accuracy(task="multiclass", num_classes=10)

    def training_step(self, batch, _):
        x, y = batch
        scores = self.net(x)
        loss = nn.functional.cross_entropy(scores, y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        x, y = batch
        self.accuracy(self.net(x), y)
        self.log("val_acc", self.accuracy, prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.02, momentum=0.9)


parser = argparse.ArgumentParser()
parser.add_argument("--devices", type=int, default=1)
parser.add_argument("--workers", type=int, default=0)
args = parser.parse_args()
trainer = L.Trainer(
    accelerator="cpu",
    devices=args.devices,
    strategy="ddp" if args.devices > 1 else "auto",
    max_epochs=100,
    log_every_n_steps=5,
    logger=CSVLogger(".", flush_logs_every_n_steps=10),
    callbacks=[ModelCheckpoint(every_n_epochs=1), LearningRateMonitor("step")],
)
trainer.fit(
    Classifier(),
    DataLoader(
        Pictures(3200), batch_size=32, shuffle=True, num_workers=args.workers, persistent_workers=args.workers > 0
    ),
    DataLoader(Pictures(160), batch_size=32, num_workers=0),
)
