"""Regress concentrations from synthetic spectra (Lightning)."""
import warnings

import lightning as L
import torch
import torch.nn as nn
from lightning.pytorch.loggers import CSVLogger
from torch.utils.data import DataLoader, Dataset

warnings.filterwarnings("ignore")


class Spectra(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(3)
        self.c = torch.rand(n, 4, generator=g)
        self.c[n // 5 * 4 + 17] = 0.0  # blank sample
        self.basis = torch.rand(4, 256, generator=g)
        self.noise = torch.randn(n, 256, generator=g) * 0.02

    def __len__(self):
        return len(self.c)

    def __getitem__(self, i):
        return self.c[i] @ self.basis + self.noise[i], self.c[i]


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.m = nn.Sequential(nn.Conv1d(1, 16, 7, 2), nn.ReLU(), nn.Conv1d(16, 32, 7, 2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(128), nn.ReLU(), nn.Linear(128, 4), nn.Softplus())

    def training_step(self, batch, _):
        x, c = batch
        p = self.m(x[:, None])
        share = c / c.sum(1, keepdim=True)
        q = p / p.sum(1, keepdim=True)
        loss = ((q - share) ** 2).mean() + ((p - c).abs()).mean()
        self.log("train_loss", loss, prog_bar=True, on_step=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 5e-4)


if __name__ == "__main__":
    L.seed_everything(11)
    data = DataLoader(Spectra(60000), batch_size=32)
    net = Net()
    net.m(torch.zeros(1, 1, 256))
    L.Trainer(max_epochs=40, accelerator="cpu", logger=CSVLogger(".", name="spectra"), log_every_n_steps=20, enable_checkpointing=False).fit(net, data)
