"""Классификация шума станков по спектрограммам (Lightning)."""
import signal
import time
import warnings

import lightning as L
import numpy as np
import torch
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, Dataset

warnings.filterwarnings("ignore")
PREDEL = 180


class Zapisi(Dataset):
    def __init__(self, n=6000, dlina=48000):
        self.n, self.dlina = n, dlina

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.default_rng(i)
        klass = i % 6
        t = np.arange(self.dlina) / 16000
        volna = np.sin(2 * np.pi * (120 + 70 * klass) * t) + 0.5 * rng.normal(size=self.dlina)
        for _ in range(6):
            sdvig = rng.uniform(0.9, 1.1)
            volna = 0.7 * volna + 0.3 * np.interp(t * sdvig, t, volna)
        okna = np.lib.stride_tricks.sliding_window_view(volna, 512)[::64] * np.hanning(512)
        spektr = np.log1p(np.abs(np.fft.rfft(okna, axis=1)))
        return spektr[:128, :128].astype(np.float32)[None], klass


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.set = nn.Sequential(nn.Conv2d(1, 8, 5, stride=4), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(),
                                 nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, 6))

    def training_step(self, batch, nomer):
        x, y = batch
        poterya = nn.functional.cross_entropy(self.set(x), y)
        self.log("poterya", poterya)
        if self.global_step % 5 == 0:
            print(f"шаг {self.global_step}: потеря {poterya.item():.4f}, прошло {time.time() - self.nachalo:.0f} с", flush=True)
        return poterya

    def on_fit_start(self):
        self.nachalo = time.time()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    signal.alarm(300)
    L.seed_everything(1, verbose=False)
    zagruzka = DataLoader(Zapisi(), batch_size=32, shuffle=True, num_workers=14, persistent_workers=True)
    trener = L.Trainer(accelerator="cpu", devices=1, max_epochs=500, max_time={"seconds": PREDEL}, enable_progress_bar=False,
                       enable_model_summary=False, enable_checkpointing=False, logger=CSVLogger("zhurnal"))
    trener.fit(Model(), zagruzka)
