"""Day-ahead price forecast, Lightning."""
import warnings

import lightning as L
import numpy as np
import torch
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")


def market(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 72, generator=g)
    t = torch.Generator().manual_seed(77)
    a, b = torch.randn(72, 120, generator=t) * 0.1, torch.randn(120, 24, generator=t) * 0.3
    return TensorDataset(x, torch.tanh(x @ a) @ b + 0.3 * torch.randn(n, 24, generator=g))


class Prices(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(72, 384), nn.GELU(), nn.Linear(384, 384), nn.GELU(), nn.Linear(384, 24))

    def training_step(self, batch, k):
        loss = nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, k):
        self.log("val_loss", nn.functional.mse_loss(self.net(batch[0]), batch[1]))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 5e-5)


class Lines(Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, k):
        if trainer.global_step % 100 == 0:
            print(f"step {trainer.global_step:>7} ~ loss {float(outputs['loss']):.4f}")

    def on_validation_epoch_end(self, trainer, module):
        print(f"======== validation: {float(trainer.callback_metrics['val_loss']):.5f} ========")


if __name__ == "__main__":
    L.seed_everything(1)
    trainer = L.Trainer(max_epochs=-1, max_steps=400_000, accelerator="cpu", logger=False, enable_progress_bar=False,
                        enable_model_summary=False, val_check_interval=0.5, num_sanity_val_steps=0,
                        callbacks=[Lines(), ModelCheckpoint("ckpt", monitor="val_loss", save_top_k=2)])
    trainer.fit(Prices(), DataLoader(market(120_000, 1), 32, shuffle=True),
                DataLoader(market(60_000, 2), 256))
