"""Sorting network with Lightning; sequences get longer in stages while the batch shrinks."""

import logging
import time
import warnings

import lightning
import torch
from torch import nn

torch.set_num_threads(1)
warnings.filterwarnings("ignore")
logging.basicConfig(level=logging.INFO)
log = logging.getLogger("sorter")


class Stages(torch.utils.data.IterableDataset):
    def __iter__(self):
        n = 0
        while True:
            stage = min(n // 120, 4)
            length = 16 + 4 * stage
            yield torch.rand(2048 // length, length)
            n += 1


class Sorter(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(1, 64, batch_first=True, bidirectional=True)
        self.out = nn.Linear(128, 1)

    def training_step(self, x):
        pred = self.out(self.rnn(x[..., None])[0])[..., 0]
        loss = nn.functional.mse_loss(pred, x.sort(1).values)
        time.sleep(0.03)
        if self.global_step % 10 == 0:
            log.info("step %d len %d train_loss %.5f", self.global_step, x.shape[1], loss.item())
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 2e-3)


if __name__ == "__main__":
    data = torch.utils.data.DataLoader(Stages(), batch_size=None)
    trainer = lightning.Trainer(
        max_steps=100_000,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(Sorter(), data)
