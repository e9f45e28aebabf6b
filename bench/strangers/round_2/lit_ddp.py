"""Lightning, two processes, DDP over gloo. A callback exports the model at the end of some epochs."""
import os
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback, TQDMProgressBar

warnings.filterwarnings("ignore")
torch.set_num_threads(1)


class Export(Callback):
    def on_train_epoch_end(self, trainer, module):
        if trainer.is_global_zero:
            torch.save(module.state_dict(), "export.pt")
            print(f"exported after epoch {trainer.current_epoch}", flush=True)
            if os.environ.get("WAIT_ON_EXPORT"):
                trainer.strategy.barrier("export")  # wait until the file is complete


class Steps(Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, i):
        if i % 20 == 0 and trainer.is_global_zero:
            print(f"e{trainer.current_epoch} b{i} loss={outputs['loss'].item():.4f}", flush=True)


class Reg(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(64, 300), torch.nn.ReLU(), torch.nn.Linear(300, 300), torch.nn.ReLU(), torch.nn.Linear(300, 1))

    def training_step(self, batch, i):
        x, y = batch
        return torch.nn.functional.mse_loss(self.net(x)[:, 0], y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return int(os.environ.get("BATCHES", "240")) * 2

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        x = torch.randn(128, 64, generator=g)
        return x, x[:, 0] * x[:, 1] + x[:, 2]


if __name__ == "__main__":
    t = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=2000, logger=False, enable_checkpointing=False, enable_progress_bar=False,
                  enable_model_summary=False, callbacks=[Steps(), Export()])
    t.fit(Reg(), torch.utils.data.DataLoader(Rows(), batch_size=None))
