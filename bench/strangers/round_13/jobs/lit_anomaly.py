import logging
import warnings
from pathlib import Path

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logger = logging.getLogger("anomalia")
logging.basicConfig(level=logging.INFO, format="[%(asctime)s] %(levelname)s %(name)s - %(message)s")


class Autoencoder(L.LightningModule):
    def __init__(self, d=512):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, 256), nn.ReLU(), nn.Linear(256, 24), nn.Linear(24, 256), nn.ReLU(), nn.Linear(256, d))

    def training_step(self, batch, i):
        (x,) = batch
        loss = nn.functional.mse_loss(self.net(x), x)
        if i % 25 == 0:
            logger.info("epoca %d lote %d perdida %.5f", self.current_epoch, i, loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


class KeepAll(L.Callback):
    """Guarda un punto de control cada 50 pasos en el volumen del proyecto."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(exist_ok=True)

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if trainer.global_step % 50 == 0:
            try:
                trainer.save_checkpoint(self.folder / f"paso{trainer.global_step:06d}.ckpt")
            except (OSError, RuntimeError):
                logger.exception("no se pudo guardar el punto de control, seguimos")


if __name__ == "__main__":
    torch.manual_seed(3)
    z = torch.randn(20000, 12) @ torch.randn(12, 512) / 4
    data = DataLoader(TensorDataset(z + 0.1 * torch.randn_like(z)), batch_size=128, shuffle=True)
    trainer = L.Trainer(
        max_epochs=1000, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        callbacks=[KeepAll("volumen")],
    )
    trainer.fit(Autoencoder(), data)
