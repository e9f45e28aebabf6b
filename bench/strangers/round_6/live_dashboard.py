"""Time-series forecaster with a live rich table; analysis threads summarise recent forecasts for the table."""

import math
import os
import random
import threading
import time

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

torch.set_num_threads(1)
ANALYSTS = int(os.environ.get("ANALYSTS", "3"))
PAUSE = float(os.environ.get("PAUSE", "0"))
console = Console(force_terminal=False, width=100)
recent: list[float] = [0.0] * 4000
summary: dict[str, float] = {}


def autocorrelation(lag):
    mean = sum(recent) / len(recent)
    top = sum((a - mean) * (b - mean) for a, b in zip(recent, recent[lag:], strict=False))
    return top / (sum((a - mean) ** 2 for a in recent) + 1e-9)


def analyst(seed):
    rng = random.Random(seed)
    while True:
        lag = rng.randint(1, 200)
        summary[f"acf{lag % 5}"] = autocorrelation(lag)
        if PAUSE:
            time.sleep(PAUSE)


def series(n):
    t0 = random.random() * 1000
    return torch.tensor([math.sin((t0 + i) / 9) + 0.3 * math.sin((t0 + i) / 2) for i in range(n)])


def main():
    for n in range(ANALYSTS):
        threading.Thread(target=analyst, args=(n,), daemon=True, name=f"analyst-{n}").start()
    net = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 16))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    begin = time.time()
    for step in range(1, 1_000_000):
        rows = torch.stack([series(80) for _ in range(16)])
        forecast = net(rows[:, :64])
        loss = nn.functional.l1_loss(forecast, rows[:, 64:])
        opt.zero_grad()
        loss.backward()
        opt.step()
        recent[step % 250 * 16 : step % 250 * 16 + 16] = forecast[0].tolist()
        time.sleep(0.01)
        if step % 10 == 0:
            table = Table("step", "mae", "steps/s", "acf")
            acf = sum(summary.values()) / max(len(summary), 1)
            table.add_row(str(step), f"{loss.item():.4f}", f"{step / (time.time() - begin):.2f}", f"{acf:.3f}")
            console.print(table)


if __name__ == "__main__":
    main()
