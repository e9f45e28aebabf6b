"""Separate vocals from the mix (toy stems), Lightning."""
import time

import numpy as np
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SR = 16000


def stft(x, n=1024, hop=256):
    idx = np.arange(n)[None] + hop * np.arange((len(x) - n) // hop)[:, None]
    return np.fft.rfft(x[idx] * np.hanning(n), axis=1)


def stretch(spec, rate):
    """Phase vocoder."""
    steps = np.arange(0, len(spec) - 2, rate)
    phase, out = np.angle(spec[0]), np.empty((len(steps), spec.shape[1]), complex)
    for k, t in enumerate(steps):
        a, b, f = spec[int(t)], spec[int(t) + 1], t % 1
        out[k] = ((1 - f) * np.abs(a) + f * np.abs(b)) * np.exp(1j * phase)
        phase = phase + np.angle(b) - np.angle(a)
    return out


class Stems(Dataset):
    def __len__(self):
        return 6400

    def __getitem__(self, i):
        g = np.random.default_rng(i)
        t = np.arange(2 * SR) / SR
        f0 = g.uniform(150, 500)
        voice = sum(np.sin(2 * np.pi * k * f0 * t + 3 * np.sin(5 * t)) / k for k in range(1, 12))
        band = sum(np.sin(2 * np.pi * f * t) for f in g.uniform(60, 3000, 10)) + 0.1 * g.normal(size=len(t))
        rate = g.uniform(0.8, 1.2)
        v, b = (np.abs(stretch(stft(s), rate))[:90] for s in (voice, band))
        return torch.tensor(np.log1p(v + b), dtype=torch.float32), torch.tensor(v / (v + b + 1e-6), dtype=torch.float32)


class Mask(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(513, 128), nn.ReLU(), nn.Linear(128, 513))

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.binary_cross_entropy_with_logits(self.net(x), y)
        self.ema = 0.9 * getattr(self, "ema", loss.item()) + 0.1 * loss.item()
        if index % 2 == 0:
            took = time.time() - self.trainer.began
            print(f"epoch {self.current_epoch} | batch {index:04d} | mask_bce {self.ema:.4f} | {took:.1f} s since start", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


if __name__ == "__main__":
    torch.set_num_threads(1)
    L.seed_everything(1)
    loader = DataLoader(Stems(), batch_size=8, shuffle=True, num_workers=1, persistent_workers=True)
    trainer = L.Trainer(max_epochs=10, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.began = time.time()
    trainer.fit(Mask(), loader)
