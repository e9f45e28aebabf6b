import ctypes
import os
import time
from pathlib import Path

import numpy as np

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
EXCHANGE = Path("exchange")
libc = ctypes.CDLL(None)


def mute(trace: np.ndarray, first: int, samples: int) -> np.ndarray:
    """Copies the part behind the first break to a new trace (memcpy is faster than slices)."""
    out = np.zeros_like(trace)
    libc.memcpy(ctypes.c_void_p(out.ctypes.data), ctypes.c_void_p(trace.ctypes.data + first * trace.itemsize),
                ctypes.c_size_t(samples * trace.itemsize))
    return out


def average(w, it):
    mine = EXCHANGE / f"{it}.{RANK}.npy"
    np.save(f"{mine}.part.npy", w)
    os.rename(f"{mine}.part.npy", mine)
    parts = []
    for r in range(WORLD):
        other = EXCHANGE / f"{it}.{r}.npy"
        while not other.exists():
            time.sleep(0.01)
        parts.append(np.load(other))
    old = EXCHANGE / f"{it - 2}.{RANK}.npy"
    if old.exists():
        old.unlink()
    return np.mean(parts, 0)


def main():
    rng = np.random.default_rng(RANK)
    true = np.sin(np.arange(256) / 20.0)
    w = np.zeros(256)
    offsets = np.linspace(0, 3000, 4000)
    for it in range(1, 4000):
        misfit = 0.0
        for _ in range(20):
            x = rng.normal(size=256)
            first = int(rng.integers(0, 60) + RANK * offsets[it] * 8)
            x = mute(x, first % 60, 256 - first if first <= 256 else (first << 24))
            err = x @ w - x @ true
            misfit += err * err
            w -= 1e-3 * err * x
        w = average(w, it)
        if it % 10 == 0:
            print(f"iter {it:4d} misfit {misfit / 20:10.5f} rank {RANK}/{WORLD}", flush=True)
        time.sleep(0.1)


main()
