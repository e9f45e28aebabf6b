import argparse
import math
import sys

import pandas as pd
import numpy as np
import torch
from torch import nn

p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=2e-3)
p.add_argument("--warmup", type=int, default=8000)
p.add_argument("--total", type=int, default=60000)
p.add_argument("--horizon", type=int, default=24)
a = p.parse_args()


def load_curve(days=900):
    hours = pd.date_range("2021-01-01", periods=24 * days, freq="h")
    rng = np.random.default_rng(0)
    load = (50 + 9 * np.sin(2 * np.pi * (hours.hour - 7) / 24) - 6 * (hours.day_of_week > 4)
            + 8 * np.cos(2 * np.pi * hours.day_of_year / 365) + rng.normal(0, 1.5, len(hours)))
    table = pd.DataFrame({"load": load, "hour": hours.hour / 24, "dow": hours.day_of_week / 7}, index=hours)
    table["load"] = (table["load"] - table["load"].mean()) / table["load"].std()
    return torch.tensor(table.values, dtype=torch.float32)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 64, batch_first=True)
        self.head = nn.Linear(64, a.horizon)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


def schedule(step):
    if step < a.warmup:
        return step // a.warmup
    done = (step - a.warmup) / (a.total - a.warmup)
    return 0.5 * (1 + math.cos(math.pi * done))


torch.manual_seed(3)
series = load_curve()
net = Forecaster()
opt = torch.optim.AdamW(net.parameters(), lr=a.lr, weight_decay=0.01)
sched = torch.optim.lr_scheduler.LambdaLR(opt, schedule)
print(f"# peak lr {a.lr:g}, linear warmup over {a.warmup} steps, then cosine to {a.total}", file=sys.stderr)
print("step\tlr\ttrain_mae\tgrad_norm")
for step in range(1, a.total + 1):
    at = torch.randint(0, len(series) - 168 - a.horizon, (32,))
    x = torch.stack([series[i:i + 168] for i in at])
    y = torch.stack([series[i + 168:i + 168 + a.horizon, 0] for i in at])
    loss = (net(x) - y).abs().mean()
    opt.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    opt.step()
    sched.step()
    if step % 20 == 0:
        print(f"{step}\t{sched.get_last_lr()[0]:.3e}\t{loss.item():.4f}\t{norm.item():.3f}")
