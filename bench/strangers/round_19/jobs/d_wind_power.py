"""Hourly output of a wind park from mast measurements (HF Trainer)."""
import math
import numpy as np
import torch
from torch import nn
from torch.utils.data import IterableDataset
from transformers import Trainer, TrainingArguments

WINDOW = 48


class MastHours(IterableDataset):
    """Windows of the mast's hours, in the order of the calendar."""

    def __init__(self, hours, seed=4):
        self.hours = hours
        self.rng = np.random.default_rng(seed)

    def month(self, k):
        n = 720
        season = 1.0 + 0.5 * math.cos(2 * math.pi * k / 12)
        gust = self.rng.weibull(2.0, size=(n, 6)) * 8.0 * season
        if season < 0.6:
            cut = gust.mean(axis=1) < 2.2
            gust[cut] = 0.0  # the anemometer's threshold
        return gust.astype(np.float32)

    def __iter__(self):
        k = 0
        while True:
            gust = self.month(k // 24)
            mean, std = gust.mean(1), gust.std(1)
            x = np.stack([mean, std / mean, np.sin(mean)], axis=1)
            power = np.clip(mean / 12.0, 0, 1) ** 3
            for s in range(0, len(gust) - WINDOW, 6):
                yield {"x": torch.from_numpy(x[s : s + WINDOW].astype(np.float32)),
                       "y": torch.tensor(power[s : s + WINDOW].mean(), dtype=torch.float32)}
            k += 1


class ParkModel(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.enter = nn.Linear(3, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, batch_first=True, dropout=0.0)
        self.body = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, 1)

    def forward(self, x, y):
        out = self.head(self.body(self.enter(x)).mean(1)).squeeze(-1)
        return {"loss": nn.functional.mse_loss(out, y), "logits": out}


def main():
    torch.manual_seed(1)
    np.seterr(all="ignore")
    args = TrainingArguments(
        output_dir="park", max_steps=40000, per_device_train_batch_size=32, logging_steps=10, save_strategy="no",
        report_to=[], learning_rate=3e-4, lr_scheduler_type="cosine", warmup_steps=50, disable_tqdm=True, use_cpu=True)
    Trainer(model=ParkModel(), args=args, train_dataset=MastHours(24 * 365)).train()


if __name__ == "__main__":
    main()
