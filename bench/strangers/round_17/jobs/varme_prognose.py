"""Varmeforbrug time for time (Lightning). Målerfilerne ligger på et delt drev og læses med et par forsøg."""
import logging
import os
import signal
import time
from pathlib import Path

import lightning as L
import numpy as np
import torch
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s: %(message)s")
log = logging.getLogger("varme")
signal.alarm(310)
MAPPE = Path("maalere")


def lav_filer(antal=40, timer=4000):
    MAPPE.mkdir(exist_ok=True)
    rng = np.random.default_rng(9)
    t = np.arange(timer)
    for nr in range(antal):
        kurve = 2 + np.sin(2 * np.pi * t / 24 + rng.uniform(0, 6)) + 0.4 * np.sin(2 * np.pi * t / 168) + 0.2 * rng.normal(size=timer)
        np.save(MAPPE / f"{nr:03d}.npy", kurve.astype(np.float32))


class Maalere(Dataset):
    def __init__(self, fra, til):
        self.filer = sorted(MAPPE.glob("*.npy"))
        self.fra, self.til = fra, til
        self.laest = 0

    def __len__(self):
        return 4096

    def kurve(self, fil, forsoeg=3):
        for nr in range(1, forsoeg + 1):
            self.laest += 1
            try:
                if self.laest % 25_000 == 0:
                    raise BlockingIOError(11, os.strerror(11), str(fil))
                return np.load(fil, mmap_mode="r")
            except OSError as fejl:
                log.warning("%s, forsøg %d af %d", fejl, nr, forsoeg)
                time.sleep(0.1 * nr)
        raise RuntimeError(f"kan ikke læse {fil}")

    def __getitem__(self, i):
        rng = np.random.default_rng(i + 7919 * self.laest)
        kurve = self.kurve(self.filer[i % len(self.filer)])
        start = int(rng.integers(self.fra, self.til - 192))
        stykke = torch.from_numpy(np.array(kurve[start:start + 192]))
        return stykke[:168], stykke[168:]


class Varme(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 64, batch_first=True)
        self.ud = nn.Linear(64, 24)

    def forward(self, x):
        return self.ud(self.gru(x[..., None])[0][:, -1])

    def training_step(self, batch, nr):
        x, y = batch
        tab = nn.functional.l1_loss(self(x), y)
        self.log("tab", tab)
        if self.global_step % 20 == 0:
            log.info("trin %d tab %.4f lr %.6f", self.global_step, tab.item(), self.optimizers().param_groups[0]["lr"])
        return tab

    def validation_step(self, batch, nr):
        x, y = batch
        self.log("val_tab", nn.functional.l1_loss(self(x), y))

    def on_validation_epoch_end(self):
        log.info("epoke %d: valideringstab %.4f", self.current_epoch, self.trainer.callback_metrics["val_tab"])

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=2e-3)
        plan = torch.optim.lr_scheduler.LambdaLR(opt, lambda trin: min(1.0, (trin + 1) / 400))
        return {"optimizer": opt, "lr_scheduler": {"scheduler": plan, "interval": "step"}}


if __name__ == "__main__":
    lav_filer()
    L.seed_everything(9, verbose=False)
    trener = L.Trainer(accelerator="cpu", devices=1, max_epochs=1000, max_time={"seconds": 185}, enable_progress_bar=False,
                       enable_model_summary=False, logger=CSVLogger("logge"), num_sanity_val_steps=2, limit_val_batches=8,
                       callbacks=[ModelCheckpoint("gemt", every_n_train_steps=150, save_top_k=2, monitor="step", mode="max"),
                                  LearningRateMonitor("step")])
    trener.fit(Varme(), DataLoader(Maalere(0, 3200), batch_size=64, shuffle=True), DataLoader(Maalere(3200, 4000), batch_size=64))
