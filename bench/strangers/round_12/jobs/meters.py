"""One site of the load forecast. Sites meet once a round in a shared folder."""
import os
import sys
import time
from datetime import datetime
from pathlib import Path

import numpy as np

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
BOX = Path("exchange")
BOX.mkdir(exist_ok=True)


def say(text):
    sys.stdout.write(f"<{datetime.now():%d.%m. %H:%M:%S}> site {RANK}: {text}\n")
    sys.stdout.flush()


def readings(rnd):
    """The meter protocol of this round: one line a quarter of an hour."""
    r = np.random.default_rng(1000 * RANK + rnd)
    kw = 3 + np.sin(np.arange(4000) / 96 * 6.283) + 0.2 * r.normal(size=4000)
    lines = [f"{i};{v:.3f}" for i, v in enumerate(kw)]
    if RANK == 2 and rnd == 75:
        lines[1723] = "1723;--.---"
    return np.array([float(line.split(";")[1]) for line in lines])


def features(load):
    return np.stack([np.roll(load, k) for k in range(1, 97)], 1)


def publish(rnd, w):
    part = BOX / f".r{rnd:05d}_s{RANK}.npy"
    np.save(part, w)
    part.rename(BOX / f"r{rnd:05d}_s{RANK}.npy")


def collect(rnd):
    waited = 0.0
    while True:
        files = sorted(BOX.glob(f"r{rnd:05d}_s*.npy"))
        if len(files) == WORLD:
            return np.mean([np.load(f) for f in files], axis=0)
        time.sleep(0.05)
        waited += 0.05


w = np.zeros(96)
for rnd in range(1, 100000):
    load = readings(rnd)
    x = features(load)
    mu, sd = load.mean(), load.std()
    xs, ys = (x - mu) / sd, (load - mu) / sd
    for _ in range(400):
        w -= 0.005 * xs.T @ (xs @ w - ys) / len(ys)
    publish(rnd, w)
    w = collect(rnd)
    say(f"round {rnd} mse {np.mean((xs @ w - ys) ** 2):.4f}")
    for old in BOX.glob(f"r{rnd - 3:05d}_s{RANK}.npy"):
        old.unlink()
