import bz2
import hashlib
import io
import os
import warnings
from pathlib import Path

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from lightning.pytorch.plugins.io import TorchCheckpointIO
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", ".*num_workers.*")


class CompressedIO(TorchCheckpointIO):
    """Checkpoints go to the archive compressed, with a digest beside them."""

    def save_checkpoint(self, checkpoint, path, storage_options=None):
        buffer = io.BytesIO()
        torch.save(checkpoint, buffer)
        packed = bz2.compress(buffer.getvalue(), 9)
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as f:
            f.write(packed)
            f.flush()
            os.fsync(f.fileno())
        path.with_suffix(".sha256").write_text(hashlib.sha256(packed).hexdigest())

    def load_checkpoint(self, path, map_location=None, weights_only=None):
        return torch.load(io.BytesIO(bz2.decompress(Path(path).read_bytes())), map_location, weights_only=False)


def claims(n=40000):
    x = torch.randn(n, 200)
    return TensorDataset(x, x[:, :5].sum(1) + x[:, 5] * x[:, 6] + 0.3 * torch.randn(n))


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(200, 1400), nn.SiLU(), nn.Linear(1400, 1400), nn.SiLU(), nn.Linear(1400, 1))

    def training_step(self, batch, _):
        x, y = batch
        loss = nn.functional.huber_loss(self.body(x).squeeze(1), y)
        self.log("train/huber", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-4)


if __name__ == "__main__":
    L.seed_everything(1)
    ckpt = ModelCheckpoint(dirpath="ckpt", every_n_train_steps=100, save_top_k=1, monitor="train/huber",
                           save_on_train_epoch_end=False, filename="{step}", save_last=True)
    trainer = L.Trainer(max_epochs=1000, accelerator="cpu", devices=1, logger=CSVLogger("logs", flush_logs_every_n_steps=20),
                        log_every_n_steps=10, plugins=[CompressedIO()], callbacks=[ckpt])
    trainer.fit(Net(), DataLoader(claims(), batch_size=64, shuffle=True))
