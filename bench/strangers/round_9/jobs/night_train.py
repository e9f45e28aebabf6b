"""Click prediction on the last days' log, a model per country group; see night_run.py."""

import json
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

STATUS = Path(sys.argv[1])
COUNTRIES = 60


def status(**what):
    tmp = STATUS.with_suffix(".tmp")
    tmp.write_text(json.dumps(what))
    tmp.replace(STATUS)


class Clicks(nn.Module):
    def __init__(self):
        super().__init__()
        self.country = nn.Embedding(COUNTRIES, 16)
        self.rest = nn.Sequential(nn.Linear(16 + 40, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))

    def forward(self, country, x):
        return self.rest(torch.cat([self.country(country), x], 1)).squeeze(1)


def rows(day, hour, rank, n=256):
    gen = torch.Generator().manual_seed(10_000 * day + 100 * hour + rank)
    x = torch.randn(n, 40, generator=gen)
    # a new market opened on day 3
    country = torch.randint(0, COUNTRIES + (1 if day >= 3 and rank == 1 else 0), (n,), generator=gen)
    chance = torch.sigmoid(x[:, :10].sum(1) * 0.4 + (country % 7) * 0.3 - 1.5)
    return country, x, torch.bernoulli(chance, generator=gen)


def main():
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    torch.manual_seed(0)
    net = nn.parallel.DistributedDataParallel(Clicks())
    opt = torch.optim.Adagrad(net.parameters(), lr=0.01)
    for day in range(400):
        for hour in range(100):
            country, x, y = rows(day, hour, rank)
            loss = nn.functional.binary_cross_entropy_with_logits(net(country, x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if hour % 10 == 0:
                print(f"day {day} part {hour:02d}: logloss {loss.item():.4f}", flush=True)
        if rank == 0:
            status(state="running", day=day)
    if rank == 0:
        status(state="finished")


main()
