"""Evolution strategy with a pool of processes. Fitness of every generation in evo.csv."""
import csv
import ctypes
import multiprocessing as mp
import os
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np

CRASH = int(os.environ.get("CRASH_GEN", "-1"))


def rollout(job):
    seed, gen, theta = job
    if gen == CRASH and seed % 24 == 5:
        ctypes.memset(0, 1, 1)  # the simulator's native library does not like these parameters
    r = np.random.default_rng(seed)
    x, v, total = r.normal(size=6), np.zeros(6), 0.0
    W = theta.reshape(6, 12)
    for _ in range(400):
        a = np.tanh(W @ np.concatenate([x, v]))
        v = 0.95 * v + 0.1 * a + 0.02 * r.normal(size=6)
        x = x + 0.1 * v
        total -= float((x * x).sum())
    return total / 400


def main():
    rng = np.random.default_rng(0)
    theta = np.zeros(72)
    with mp.Pool(2) as pool, open("evo.csv", "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["generation", "fitness_mean", "fitness_max", "sigma"])
        for gen in range(100_000):
            eps = rng.normal(size=(24, 72))
            fit = np.array(pool.map(rollout, [(gen * 24 + k, gen, theta + 0.1 * eps[k]) for k in range(24)], chunksize=1))
            theta += 0.05 * ((fit - fit.mean()) / (fit.std() + 1e-8)) @ eps / 24
            w.writerow([gen, round(fit.mean(), 3), round(fit.max(), 3), 0.1])
            f.flush()
            if gen % 5 == 0:
                print(f"gen {gen}: mean {fit.mean():.3f} max {fit.max():.3f}", flush=True)


if __name__ == "__main__":
    main()
