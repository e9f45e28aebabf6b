import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint, TQDMProgressBar
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Glyphs(Dataset):
    def __len__(self):
        return 3200

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        img = torch.full((16, 16), -1.0)
        r, c, h, w = torch.randint(1, 7, (4,), generator=g).tolist()
        img[r:r + h + 2, c] = 1
        img[r, c:c + w + 2] = 1
        return (img + 0.05 * torch.randn(16, 16, generator=g))[None]


class GAN(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.gen = nn.Sequential(nn.Linear(24, 256), nn.LeakyReLU(0.2), nn.Linear(256, 256), nn.LeakyReLU(0.2), nn.Linear(256, 256), nn.Tanh(), nn.Unflatten(1, (1, 16, 16)))
        self.crit = nn.Sequential(nn.Conv2d(1, 24, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(24, 48, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Dropout(0.3), nn.Linear(768, 1))

    def training_step(self, real, i):
        og, oc = self.optimizers()
        bce = nn.functional.binary_cross_entropy_with_logits
        fake = self.gen(torch.randn(len(real), 24))
        lr_, lf = self.crit(real), self.crit(fake.detach())
        d = bce(lr_, torch.full_like(lr_, 0.9)) + bce(lf, torch.zeros_like(lf))
        oc.zero_grad()
        self.manual_backward(d)
        oc.step()
        lf = self.crit(fake)
        g = bce(lf, torch.ones_like(lf))
        og.zero_grad()
        self.manual_backward(g)
        og.step()
        self.log_dict({"loss_d": d, "loss_g": g}, prog_bar=True)

    def validation_step(self, real, i):
        self.log("real_score", torch.sigmoid(self.crit(real)).mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.gen.parameters(), 2e-4, (0.5, 0.999)), torch.optim.Adam(self.crit.parameters(), 1e-4, (0.5, 0.999))


if __name__ == "__main__":
    L.seed_everything(11)
    data = Glyphs()
    t = L.Trainer(accelerator="cpu", max_epochs=1000, logger=CSVLogger("logs"), log_every_n_steps=10, check_val_every_n_epoch=2,
                  callbacks=[TQDMProgressBar(refresh_rate=10), ModelCheckpoint(save_last=True, every_n_epochs=3)])
    t.fit(GAN(), DataLoader(data, 32, shuffle=True), DataLoader(torch.utils.data.Subset(data, range(640)), 64))
