"""Ki-67 scoring of breast biopsies; cosine schedule with warm restarts (Lightning)."""
import logging

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(format="%(asctime)s %(message)s", level=logging.INFO)
log = logging.getLogger("ki67")
log.setLevel(logging.INFO)
CENTRES = torch.randn(4, 400, generator=torch.Generator().manual_seed(1)) * 0.12


class Patches(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.label = torch.randint(0, 4, (n,), generator=g)
        self.x = CENTRES[self.label] + torch.randn(n, 400, generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.label[i]


class Scorer(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(400, 1200), nn.GELU(), nn.Linear(1200, 1200), nn.GELU(), nn.Linear(1200, 4))
        self.recent = []

    def training_step(self, batch, idx):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y, label_smoothing=0.05)
        self.recent = (self.recent + [loss.item()])[-20:]
        if self.global_step % 40 == 0:
            lr = self.optimizers().param_groups[0]["lr"]
            log.info("step=%d ce=%.3f lr=%.2e", self.global_step, sum(self.recent) / len(self.recent), lr)
        return loss

    def validation_step(self, batch, idx):
        x, y = batch
        self.hits = getattr(self, "hits", []) + [(self.net(x).argmax(1) == y).float().mean().item()]

    def on_validation_epoch_end(self):
        log.info("validation error %.1f %%", 100 - 100 * sum(self.hits) / len(self.hits))
        self.hits = []

    def configure_optimizers(self):
        opt = torch.optim.SGD(self.parameters(), 0.02, momentum=0.9)
        plan = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 600)
        return {"optimizer": opt, "lr_scheduler": {"scheduler": plan, "interval": "step"}}


L.Trainer(accelerator="cpu", max_epochs=2000, logger=False, enable_checkpointing=False, enable_progress_bar=False,
          val_check_interval=500, num_sanity_val_steps=0).fit(
    Scorer(), DataLoader(Patches(60000, 2), batch_size=64, shuffle=True), DataLoader(Patches(4000, 3), batch_size=64))
