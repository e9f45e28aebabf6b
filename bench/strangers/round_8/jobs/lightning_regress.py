"""House price regressor, Lightning, logs to CSV."""

import time
import warnings

import lightning
import torch
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", ".*does not have many workers.*")


class Prices(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(24, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU(), nn.Linear(96, 1))

    def _loss(self, batch):
        x, y = batch
        return nn.functional.huber_loss(self.body(x), y)

    def training_step(self, batch, _):
        loss = self._loss(batch)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, _):
        self.log("val_loss", self._loss(batch), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-4)


class Tell(Callback):
    def on_train_batch_end(self, trainer, _module, outputs, *_rest):
        time.sleep(0.04)
        if trainer.global_step % 25 == 0:
            print(f"epoch {trainer.current_epoch} step {trainer.global_step} train_loss={outputs['loss'].item():.4f}")

    def on_validation_end(self, trainer, _module):
        if not trainer.sanity_checking:
            print(f"epoch {trainer.current_epoch} val_loss={trainer.callback_metrics['val_loss'].item():.4f}")


def main() -> None:
    lightning.seed_everything(11)
    x = torch.randn(5000, 24)
    y = (x[:, :1] * x[:, 1:2] + torch.sin(3 * x[:, 2:3]) + x[:, 3:4].abs()) + 0.3 * torch.randn(5000, 1)
    train = DataLoader(TensorDataset(x[:4000], y[:4000]), batch_size=32, shuffle=True)
    valid = DataLoader(TensorDataset(x[4000:], y[4000:]), batch_size=200)
    trainer = lightning.Trainer(
        max_epochs=400,
        accelerator="cpu",
        logger=CSVLogger("logs", name="prices"),
        log_every_n_steps=10,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[Tell(), ModelCheckpoint(monitor="val_loss", save_top_k=1)],
    )
    trainer.fit(Prices(), train, valid)


if __name__ == "__main__":
    main()
