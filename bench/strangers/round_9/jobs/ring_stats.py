"""Forecast of tides. A thread of the last rank writes statistics of the weights to a CSV file from time to time."""

from __future__ import annotations

import csv
import math
import threading
from dataclasses import dataclass, field

import torch
import torch.distributed as dist
from torch import nn


@dataclass
class Options:
    hidden: int = 160
    window: int = 72
    batch: int = 48
    rate: float = 5e-4
    report_every: int = 140
    stations: list[float] = field(default_factory=lambda: [12.42, 12.0, 25.82, 23.93])


class Statistics(threading.Thread):
    """Collects values of the steps, and weights now and then, without stopping the training for it."""

    def __init__(self, model: nn.Module, weights: threading.Lock):
        super().__init__(name="statistics", daemon=True)
        self.model, self.weights = model, weights
        self.values = threading.Lock()
        self.losses: list[float] = []
        self.due = threading.Event()

    def add(self, loss: float):
        with self.values:
            self.losses.append(loss)

    def run(self):
        with open("statistics.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["mean_loss", "norm", "largest"])
            while self.due.wait():
                self.due.clear()
                with self.values:
                    mean = sum(self.losses) / max(len(self.losses), 1)
                    self.losses.clear()
                    with self.weights:
                        flat = torch.cat([p.detach().flatten() for p in self.model.parameters()])
                    writer.writerow([f"{mean:.5f}", f"{flat.norm():.3f}", f"{flat.abs().max():.3f}"])
                file.flush()


class Forecaster(nn.Module):
    def __init__(self, o: Options):
        super().__init__()
        self.rnn = nn.LSTM(1, o.hidden, batch_first=True)
        self.out = nn.Linear(o.hidden, 6)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1])


class Trainer:
    def __init__(self, o: Options):
        self.o, self.rank = o, dist.get_rank()
        torch.manual_seed(self.rank)
        self.model = nn.parallel.DistributedDataParallel(Forecaster(o))
        self.opt = torch.optim.Adam(self.model.parameters(), lr=o.rate)
        self.weights = threading.Lock()
        self.stats = None
        if self.rank == dist.get_world_size() - 1:
            self.stats = Statistics(self.model.module, self.weights)
            self.stats.start()

    def sample(self):
        t = 1000 * torch.rand(self.o.batch, 1) + torch.arange(self.o.window + 6)
        level = sum(torch.cos(2 * math.pi * t / p) / (k + 1) for k, p in enumerate(self.o.stations))
        level = level + 0.1 * torch.randn(level.shape)
        return level[:, : -6].unsqueeze(2), level[:, -6:]

    def step(self, n: int):
        x, y = self.sample()
        with self.weights:
            if self.stats and n % self.o.report_every == 0:
                self.stats.due.set()
            loss = nn.functional.mse_loss(self.model(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if self.stats:
                self.stats.add(loss.item())
        return loss

    def fit(self, steps: int):
        for n in range(1, steps + 1):
            loss = self.step(n)
            if self.rank == 0 and n % 10 == 0:
                print(f"[{n:>6}/{steps}] mse={loss.item():.4f}", flush=True)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    Trainer(Options()).fit(50_000)
