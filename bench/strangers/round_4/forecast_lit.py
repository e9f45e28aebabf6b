"""Electricity load forecasting with Lightning (hourly meters, one week of context)."""
import argparse
import math

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)


class Meters(Dataset):
    """Windows in order of time. Meter readings are in MW, one file per month."""

    def __init__(self, months, clean=True):
        g = torch.Generator().manual_seed(3)
        parts = []
        for m in range(months):
            t = torch.arange(720.0)
            x = 1 + 0.5 * (t * 2 * math.pi / 24).sin() + 0.3 * (t * 2 * math.pi / 168).cos() + 0.2 * torch.randn(720, generator=g)
            if m == 27 and not clean:
                x = x * 1000  # delivered in kW by the new supplier
            parts.append(x)
        self.x = torch.cat(parts)

    def __len__(self):
        return len(self.x) - 192

    def __getitem__(self, i):
        return self.x[i : i + 168, None], self.x[i + 168 : i + 192]


class Forecaster(L.LightningModule):
    def __init__(self, restarts):
        super().__init__()
        self.restarts = restarts
        self.rnn = nn.GRU(1, 96, batch_first=True)
        self.out = nn.Linear(96, 24)

    def training_step(self, batch, i):
        x, y = batch
        h, _ = self.rnn(x)
        loss = nn.functional.mse_loss(self.out(h[:, -1]), y)
        self.log("train_loss", loss)
        if self.global_step % 5 == 0:
            lr = self.optimizers().param_groups[0]["lr"]
            print(f"step={self.global_step} train_loss={loss.item():.5f} lr={lr:.2e}", flush=True)
        return loss

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=5e-3 if self.restarts else 1e-3)
        if not self.restarts:
            return opt
        sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=120)
        return {"optimizer": opt, "lr_scheduler": {"scheduler": sched, "interval": "step"}}


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--restarts", action="store_true")
    ap.add_argument("--raw", action="store_true", help="take the months as delivered, without unit checks")
    ap.add_argument("--batch", type=int, default=64)
    a = ap.parse_args()
    L.seed_everything(11)
    data = DataLoader(Meters(60, clean=not a.raw), a.batch, shuffle=not a.raw, num_workers=0)
    trainer = L.Trainer(max_epochs=200, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(Forecaster(a.restarts), data)
