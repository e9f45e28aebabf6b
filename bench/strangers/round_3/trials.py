"""Random search over learning rates; each trial is a small network in NumPy.

--jobs N runs N trials at a time, each in its own process.
"""
import argparse
import multiprocessing
import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np


def trial(number):
    r = np.random.default_rng(number)
    lr = 10 ** r.uniform(-3, 1.8 if number % 5 == 2 else 0)
    W1, W2 = r.normal(0, 0.2, (50, 200)), r.normal(0, 0.1, (200, 1))
    target = np.random.default_rng(0).normal(size=(50, 1))
    loss = None
    for step in range(600):
        X = r.normal(size=(512, 50))
        y = np.tanh(X @ target / 5)
        H = np.tanh(X @ W1)
        e = H @ W2 - y
        with np.errstate(all="ignore"):
            loss = float((e * e).mean())
            W1 -= lr * X.T @ ((e @ W2.T) * (1 - H * H)) / 512
            W2 -= lr * H.T @ e / 512
        if not np.isfinite(loss) or loss > 1e6:
            print(f"[W {time.strftime('%H:%M:%S')}] Trial {number} failed with parameters: {{'lr': {lr:.4g}}} because the value nan is not acceptable.", flush=True)
            return float("inf")
        if step % 60 == 0:
            print(f"    trial {number} step {step}/600 loss {loss:.5f}", flush=True)
    print(f"[I {time.strftime('%H:%M:%S')}] Trial {number} finished with value: {loss:.5f} and parameters: {{'lr': {lr:.4g}}}.", flush=True)
    return loss


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--jobs", type=int, default=1)
    a = ap.parse_args()
    if a.jobs == 1:
        best = min(trial(n) for n in range(2000))
    else:
        with multiprocessing.Pool(a.jobs) as pool:
            best = min(pool.imap_unordered(trial, range(5000)))
    print("best", best)
