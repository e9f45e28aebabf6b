"""Waterstanden langs de IJssel voorspellen met Lightning."""
import bz2
import io
import os
import time
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from lightning.pytorch.plugins.io import TorchCheckpointIO
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


class KleinOpSchijf(TorchCheckpointIO):
    """De schijf van het project is krap: alles gecomprimeerd bewaren."""

    def save_checkpoint(self, checkpoint, path, storage_options=None):
        buffer = io.BytesIO()
        torch.save(checkpoint, buffer)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as doel:
            doel.write(bz2.compress(buffer.getvalue(), 9))


class Voorspeller(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(168, 1024), nn.ReLU(), nn.Linear(1024, 1536), nn.ReLU(), nn.Linear(1536, 24))

    def training_step(self, batch, _):
        x, y = batch
        fout = nn.functional.mse_loss(self.net(x), y)
        self.log("train_mse", fout)
        return fout

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-4)


class Melder(Callback):
    def on_train_start(self, trainer, module):
        self.begin = time.time()

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        if trainer.global_step % 10 == 0:
            print(f"[{time.time() - self.begin:7.1f}s] stap {trainer.global_step} mse {outputs['loss'].item():.4f}", flush=True)


def main():
    L.seed_everything(4, verbose=False)
    t = torch.arange(0, 40000).float()
    reeks = torch.sin(t / 24) + 0.4 * torch.sin(t / 330) + 0.1 * torch.randn(len(t))
    vensters = reeks.unfold(0, 192, 5)
    data = TensorDataset(vensters[:, :168].clone(), vensters[:, 168:].clone())
    bewaren = ModelCheckpoint(dirpath="ckpt", every_n_train_steps=30, save_top_k=1, filename="ijssel-{step}")
    trainer = L.Trainer(
        accelerator="cpu", max_epochs=500, callbacks=[bewaren, Melder()], plugins=[KleinOpSchijf()],
        logger=CSVLogger("logboek"), enable_progress_bar=False, enable_model_summary=False, log_every_n_steps=10,
    )
    trainer.fit(Voorspeller(), DataLoader(data, batch_size=128, shuffle=True, drop_last=True))


if __name__ == "__main__":
    main()
