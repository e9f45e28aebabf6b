"""Battery state of health from charge curves. Lightning."""
import lightning as L
import torch
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint, TQDMProgressBar
from lightning.pytorch.loggers import TensorBoardLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def curves(n, seed):
    g = torch.Generator().manual_seed(seed)
    soh = 0.7 + 0.3 * torch.rand(n, 1, generator=g)
    t = torch.linspace(0, 1, 200)[None]
    volts = 3.0 + 1.2 * (1 - torch.exp(-t * 4 / soh)) + 0.05 * torch.randn(n, 200, generator=g)
    return TensorDataset(volts[:, None], soh)


class Regressor(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, 32, 7, padding=3), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(64, 64, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(4),
            nn.Flatten(), nn.Linear(256, 1),
        )

    def step(self, batch, name):
        x, y = batch
        loss = nn.functional.l1_loss(self.net(x - 3.8), y)
        self.log(name, loss, prog_bar=True)
        return loss

    def training_step(self, batch, _):
        return self.step(batch, "train_mae")

    def validation_step(self, batch, _):
        self.step(batch, "val_mae")

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=1e-3)
        sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 300))
        return {"optimizer": opt, "lr_scheduler": {"scheduler": sched, "interval": "step"}}


if __name__ == "__main__":
    L.seed_everything(9)
    train = DataLoader(curves(6400, 1), 32, shuffle=True)
    val = DataLoader(curves(1600, 2), 64)
    trainer = L.Trainer(
        accelerator="cpu", max_epochs=500, gradient_clip_val=1.0, log_every_n_steps=10,
        logger=TensorBoardLogger("tb"), callbacks=[ModelCheckpoint(monitor="val_mae", save_top_k=2), LearningRateMonitor("step"), TQDMProgressBar(refresh_rate=10)],
    )
    trainer.fit(Regressor(), train, val)
