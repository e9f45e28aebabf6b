"""Autoencoder for pump vibration (Lightning, CSV log)."""
import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint, TQDMProgressBar
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def vibration(n, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(512) / 512
    x = 0.1 * torch.randn(n, 512, generator=g)
    for _ in range(3):
        x += torch.rand(n, 1, generator=g) * torch.sin(6.283 * (4 + 8 * torch.rand(n, 1, generator=g)) * t)
    return TensorDataset(x)


class Auto(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.Linear(1024, 256), nn.GELU(), nn.Linear(256, 24))
        self.dec = nn.Sequential(nn.Linear(24, 256), nn.GELU(), nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 512))

    def training_step(self, batch, _):
        (x,) = batch
        loss = nn.functional.mse_loss(self.dec(self.enc(x)), x)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        (x,) = batch
        self.log("val_loss", nn.functional.mse_loss(self.dec(self.enc(x)), x), prog_bar=True)

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=1e-3)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.StepLR(opt, 20, 0.5)}


if __name__ == "__main__":
    L.seed_everything(1)
    trainer = L.Trainer(accelerator="cpu", devices=1, max_epochs=300, logger=CSVLogger("logs"), log_every_n_steps=10,
                        callbacks=[TQDMProgressBar(refresh_rate=10), ModelCheckpoint(monitor="val_loss", save_top_k=1, save_last=True)], num_sanity_val_steps=1)
    trainer.fit(Auto(), DataLoader(vibration(12800, 1), batch_size=128, shuffle=True, num_workers=1, persistent_workers=True),
                DataLoader(vibration(1280, 2), batch_size=128))
