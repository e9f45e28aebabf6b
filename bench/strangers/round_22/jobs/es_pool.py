"""Evolution strategies on a noisy tracking task; a pool of two evaluates, the parent only sums up."""
import multiprocessing as mp
import time

import numpy as np

OBS, HID, ACT = 6, 24, 2
SIZE = OBS * HID + HID + HID * ACT + ACT
POP, SIGMA, LR = 40, 0.08, 0.04


def policy(w, o):
    a, b = w[:OBS * HID].reshape(OBS, HID), w[OBS * HID:OBS * HID + HID]
    c, d = w[OBS * HID + HID:-ACT].reshape(HID, ACT), w[-ACT:]
    return np.tanh(np.tanh(o @ a + b) @ c + d)


def rollout(job):
    w, seed, sign = job
    rng = np.random.default_rng(seed)
    w = w + sign * SIGMA * rng.standard_normal(SIZE)
    pos, vel, goal = rng.normal(size=(16, 2)), np.zeros((16, 2)), rng.normal(size=(16, 2))
    total = 0.0
    for _ in range(120):
        act = policy(w, np.concatenate([pos - goal, vel, goal], 1))
        vel = 0.9 * vel + 0.1 * act + 0.01 * rng.normal(size=vel.shape)
        pos = pos + vel
        total -= np.sqrt(((pos - goal) ** 2).sum(1)).mean()
    return total / 120


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    w, m = 0.05 * rng.standard_normal(SIZE), np.zeros(SIZE)
    with mp.get_context("spawn").Pool(2) as pool:
        gen, said, recent = 0, time.time(), []
        while True:
            gen += 1
            seeds = rng.integers(0, 2**31, POP).tolist()
            scores = np.array(pool.map(rollout, [(w, s, g) for s in seeds for g in (1, -1)], chunksize=4)).reshape(POP, 2)
            rank = scores.ravel().argsort().argsort().reshape(POP, 2) / (2 * POP - 1) - 0.5
            grad = sum((rank[i, 0] - rank[i, 1]) * np.random.default_rng(s).standard_normal(SIZE) for i, s in enumerate(seeds)) / (POP * SIGMA)
            m = 0.9 * m + 0.1 * grad
            w = w + LR * m - 1e-4 * w
            recent.append(scores.mean())
            if time.time() - said > 8:
                print(f"{time.strftime('%X')} generation {gen:>6} | mean reward {np.mean(recent):.4f} | best {scores.max():.4f} | |w| {np.linalg.norm(w):.2f}")
                said, recent = time.time(), []
