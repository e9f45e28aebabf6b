"""Fault: Lightning without loader workers; the data set augments its pictures in the training process.

Symptom: input-bound-workers. Start: python.
"""

import logging
import signal
import warnings

import torch

warnings.filterwarnings("ignore")
import lightning as L  # noqa: E402, N812
from torch.utils.data import DataLoader, Dataset  # noqa: E402

signal.alarm(300)
torch.set_num_threads(1)
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Scans(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        return self.augment(torch.randn(32, 32)), index % 4

    def augment(self, scan):
        for _ in range(60):
            scan = scan.roll(1, 0).flip(1) * 0.99
        return scan.flatten()


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(1024, 4)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


L.Trainer(
    accelerator="cpu", devices=1, max_epochs=50, logger=False, enable_checkpointing=False, enable_model_summary=False
).fit(Classifier(), DataLoader(Scans(), batch_size=32))
