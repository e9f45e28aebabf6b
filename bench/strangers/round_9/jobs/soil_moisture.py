"""Soil moisture from weather, with a probe of the held-out fields after every step."""

import time

import torch
from torch import nn

torch.manual_seed(12)
FIELDS, DAYS, INPUTS = 64, 60, 9


class Moisture(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.Linear(INPUTS, 96)
        self.mix = nn.Conv1d(96, 96, 7, padding=3)
        self.out = nn.Linear(96, 1)

    def forward(self, weather):
        h = torch.relu(self.read(weather)).transpose(1, 2)
        return self.out(torch.relu(self.mix(h)).transpose(1, 2)).squeeze(-1)


class Weather:
    def __init__(self):
        self.kernel = torch.exp(-torch.arange(7.0) / 2).flip(0)

    def draw(self, n):
        weather = torch.randn(n, DAYS, INPUTS)
        rain = torch.relu(weather[..., 0])
        padded = nn.functional.pad(rain, (6, 0))
        moist = nn.functional.conv1d(padded.unsqueeze(1), self.kernel.view(1, 1, -1)).squeeze(1)
        return weather, moist - 0.3 * weather[..., 1] + 0.2 * torch.randn(n, DAYS)


class Meter:
    """Running mean of the probe over the season."""

    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(value)

    @property
    def mean(self):
        return sum(self.values[-50:]) / len(self.values[-50:])


def main():
    weather, model, probe = Weather(), Moisture(), Meter()
    opt = torch.optim.RMSprop(model.parameters(), lr=5e-5)
    loss_fn = nn.HuberLoss()
    for season in range(100):
        probe.values.clear()
        for day in range(1, 2501):
            x, y = weather.draw(FIELDS)
            model.train()
            loss = loss_fn(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            model.eval()
            x, y = weather.draw(4)
            probe.add(loss_fn(model(x), y))
            time.sleep(0.04)
            if day % 20 == 0:
                print(f"season {season} day {day}: loss {loss.item():.4f} probe {probe.mean.item():.4f}", flush=True)


main()
