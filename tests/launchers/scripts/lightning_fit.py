"""Lightning's `ddp`: rank 0 starts the others; one loader worker each. `lightning_fit.py ROSTER`."""

import os
import sys
import time
from typing import Any

import torch
from lightning.pytorch import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch: Any, index: int) -> Any:
        if index == 0:
            with open(sys.argv[1], "a") as file:
                file.write(f"{self.global_rank} {os.getpid()}\n")
        print(f"step {index}/1000 loss 0.5", flush=True)
        time.sleep(1)
        return self.layer(batch[0]).mean()

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), 0.1)

    def train_dataloader(self) -> Any:
        return DataLoader(TensorDataset(torch.ones(4000, 4)), num_workers=1)


Trainer(
    accelerator="cpu",
    devices=2,
    strategy="ddp",
    max_epochs=1,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
).fit(Model())
