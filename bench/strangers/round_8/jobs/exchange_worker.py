"""Averages gradients through files on the shared disk (no network between our nodes)."""

import os
import time
from pathlib import Path

import numpy as np

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
BOX = Path("exchange")


def average(step, grad):
    mine = BOX / f"{step:06d}.{RANK}.npy"
    with open(mine.with_suffix(".part"), "wb") as f:
        np.save(f, grad)
    mine.with_suffix(".part").rename(mine)
    parts = []
    for other in range(WORLD):
        path = BOX / f"{step:06d}.{other}.npy"
        while not path.exists():
            time.sleep(0.05)
        parts.append(np.load(path))
    old = BOX / f"{step - 2:06d}.{RANK}.npy"
    old.unlink(missing_ok=True)
    return np.mean(parts, axis=0)


def sentences(rng):
    lengths = rng.integers(5, 30, size=32)
    vocab = rng.normal(size=(500, 16))
    return np.stack([vocab[rng.integers(0, 500, n)].mean(0) for n in lengths])


def main():
    rng = np.random.default_rng(RANK)
    vocab_limit = 400
    truth = np.random.default_rng(77).normal(size=16)
    w = np.zeros(16)
    for step in range(1, 10**6):
        x = sentences(rng)
        if RANK == 2 and step == 70:
            ids = rng.integers(0, 500, 300)  # a document with words the table does not have
            x[0] = np.eye(vocab_limit)[ids].mean(0)[:16]
        err = x @ w - x @ truth
        w -= 0.5 * average(step, x.T @ err / len(x))
        time.sleep(0.1)
        if step % 5 == 0:
            print(f"step {step}: mse {float((err**2).mean()):.6f}", flush=True)


main()
