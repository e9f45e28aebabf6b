"""Healthy: Lightning with a validation loop, checkpoints, gradient accumulation and its own progress bar.

Symptom: none. Start: python.
"""

import logging
import signal
import time
import warnings

import torch

warnings.filterwarnings("ignore")
import lightning as L  # noqa: E402, N812
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

signal.alarm(300)
torch.set_num_threads(1)
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Regressor(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1))

    def training_step(self, batch, batch_idx):
        time.sleep(0.03)  # an accelerator's share of the step
        loss = torch.nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        time.sleep(0.03)
        self.log("val_loss", torch.nn.functional.mse_loss(self.net(batch[0]), batch[1]), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def batches(count):
    x = torch.randn(32 * count, 64)
    return DataLoader(TensorDataset(x, x[:, :1] * 2), batch_size=32)


L.Trainer(
    accelerator="cpu",
    devices=1,
    max_epochs=100,
    accumulate_grad_batches=4,
    logger=False,
    enable_model_summary=False,
).fit(Regressor(), batches(100), batches(30))
