import lightning as L
import torch
import torch.nn.functional as F
import torchmetrics
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint, TQDMProgressBar
from lightning.pytorch.loggers import CSVLogger
from torch.utils.data import DataLoader, TensorDataset


def plankton(n, seed):
    g = torch.Generator().manual_seed(99)
    proto = torch.randn(12, 1, 24, 24, generator=g)
    g.manual_seed(seed)
    y = torch.randint(0, 12, (n,), generator=g)
    dx = torch.randint(-4, 5, (n, 2), generator=g).tolist()
    x = torch.stack([torch.roll(proto[k], tuple(d), (1, 2)) for k, d in zip(y, dx)])
    return TensorDataset(x + 1.6 * torch.randn(x.shape, generator=g), y)


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(1, 24, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
            torch.nn.Conv2d(24, 48, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Dropout(0.2),
            torch.nn.LazyLinear(12))
        self.body(torch.zeros(2, 1, 24, 24))
        self.acc = torchmetrics.Accuracy("multiclass", num_classes=12)

    def training_step(self, batch, _):
        loss = F.cross_entropy(self.body(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        out = self.body(batch[0])
        self.acc(out, batch[1])
        self.log("val_loss", F.cross_entropy(out, batch[1]), prog_bar=True)
        self.log("val_acc", self.acc, prog_bar=True)

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), 4e-4)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(opt, 150)}


if __name__ == "__main__":
    L.seed_everything(5)
    trainer = L.Trainer(max_epochs=150, accelerator="cpu", logger=CSVLogger("runs"), log_every_n_steps=20,
                        callbacks=[ModelCheckpoint(monitor="val_loss", save_top_k=2), LearningRateMonitor(), TQDMProgressBar(refresh_rate=20)])
    trainer.fit(Net(), DataLoader(plankton(12000, 1), 64, shuffle=True), DataLoader(plankton(1200, 2), 128))
