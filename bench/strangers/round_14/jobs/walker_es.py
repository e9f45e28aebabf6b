import json
import sys
import time
from multiprocessing import get_context

import numpy as np

DIM, POP, SIGMA, LR = 24 * 4 + 4, 32, 0.08, 0.002


def rollout(job):
    """damped chain of 12 masses steered by a linear policy; fewer ticks if it tips over"""
    theta, seed = job
    rng = np.random.default_rng(seed)
    W, b = theta[:96].reshape(24, 4), theta[96:]
    x, v, total = rng.normal(0, 0.3, 12), np.zeros(12), 0.0
    for tick in range(800):
        u = np.tanh(np.concatenate([x, v]) @ W + b)
        f = -0.8 * x + 0.2 * np.roll(x, 1) + np.repeat(u, 3) - 0.3 * v
        v = v + 0.05 * f + 0.02 * rng.normal(size=12)
        x = x + 0.05 * v
        total += x.mean() - 0.05 * (u * u).sum()
        if np.abs(x).max() > 4:
            break
    return total, tick + 1


def emit(**kw):
    sys.stdout.write(json.dumps(kw) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    theta = np.zeros(DIM)
    with get_context("spawn").Pool(2) as pool:
        for gen in range(1, 100000):
            t = time.time()
            eps = rng.normal(size=(POP // 2, DIM))
            eps = np.concatenate([eps, -eps])
            seeds = rng.integers(0, 2 ** 31, POP)
            res = pool.map(rollout, [(theta + SIGMA * e, int(s)) for e, s in zip(eps, seeds)], chunksize=1)
            ret = np.array([r for r, _ in res])
            rank = ret.argsort().argsort() / (POP - 1) - 0.5
            theta = theta + LR * (rank @ eps) / (POP * SIGMA) * 0.5
            emit(gen=gen, mean_return=round(ret.mean(), 3), best=round(ret.max(), 3), ticks=int(np.mean([n for _, n in res])), secs=round(time.time() - t, 2))
            if gen % 20 == 0:
                np.save("theta.npy", theta)
                emit(event="cooldown", gen=gen, note="scheduled pause, quota of the shared box: 3 s every 20 generations")
                time.sleep(3)
