"""GAN for woven patterns, Lightning with manual optimisation and CSV logs."""
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, Dataset

warnings.filterwarnings("ignore", ".*num_workers.*")


class Weave(Dataset):
    def __len__(self):
        return 4800

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        fx, fy, ph = (torch.rand(3, generator=g) * torch.tensor([6.0, 6.0, 3.1])).tolist()
        t = torch.linspace(0, 6.28, 16)
        return torch.tanh(torch.sin(fx * t + ph)[:, None] + torch.cos(fy * t)[None]).unsqueeze(0)


class Gan(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.g = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256), nn.Tanh(), nn.Unflatten(1, (1, 16, 16)))
        self.d = nn.Sequential(nn.Flatten(), nn.Linear(256, 256), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Linear(256, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))

    def training_step(self, real, idx):
        og, od = self.optimizers()
        bce = nn.functional.binary_cross_entropy_with_logits
        fake = self.g(torch.randn(len(real), 32))
        a, b = self.d(real), self.d(fake.detach())
        loss_d = (bce(a, torch.full_like(a, 0.9)) + bce(b, torch.zeros_like(b))) / 2
        od.zero_grad()
        self.manual_backward(loss_d)
        od.step()
        c = self.d(fake)
        loss_g = bce(c, torch.ones_like(c))
        og.zero_grad()
        self.manual_backward(loss_g)
        og.step()
        self.log_dict({"loss_d": loss_d, "loss_g": loss_g}, prog_bar=True)

    def on_train_epoch_end(self):
        with torch.no_grad():
            grid = self.g(torch.randn(64, 32))
        self.print(f"epoch {self.current_epoch}: sample std {grid.std():.3f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.g.parameters(), 1e-4, (0.5, 0.99)), torch.optim.Adam(self.d.parameters(), 4e-5, (0.5, 0.99))


if __name__ == "__main__":
    L.seed_everything(5)
    trainer = L.Trainer(
        accelerator="cpu",
        max_epochs=5000,
        logger=CSVLogger("csv", flush_logs_every_n_steps=20),
        log_every_n_steps=10,
        callbacks=[ModelCheckpoint(dirpath="weights", save_last=True, save_top_k=0, every_n_epochs=2)],
    )
    trainer.fit(Gan(), DataLoader(Weave(), batch_size=32, shuffle=True))
