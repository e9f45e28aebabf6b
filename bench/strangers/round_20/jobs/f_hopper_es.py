"""Evolution strategy for a hopping leg; rollouts in two processes, one JSON record per generation."""
import json
import multiprocessing as mp
import time

import numpy as np

OBS, HID, ACT = 6, 24, 2
SHAPES = [(OBS, HID), (HID,), (HID, ACT), (ACT,)]
SIZE = sum(int(np.prod(s)) for s in SHAPES)


def unpack(theta):
    out, at = [], 0
    for s in SHAPES:
        n = int(np.prod(s))
        out.append(theta[at : at + n].reshape(s))
        at += n
    return out


def rollout(job):
    theta, seed = job
    w1, b1, w2, b2 = unpack(theta)
    rng = np.random.default_rng(seed)
    x, z, vx, vz, leg, swing = 0.0, 1.0, 0.0, 0.0, 0.0, rng.normal(0, 0.1)
    total = 0.0
    for _ in range(600):
        obs = np.array([z - 1, vx, vz, leg, swing, 1.0 if z < 1 else 0.0])
        a = np.tanh(np.tanh(obs @ w1 + b1) @ w2 + b2)
        swing = np.clip(swing + 0.05 * a[0], -0.6, 0.6)
        leg = 0.9 * leg + 0.1 * a[1]
        force = 60 * max(0.0, 1 - z + 0.15 * leg) - (2.0 * vz if z < 1 else 0.0)
        ax = force * np.sin(swing) - 0.3 * vx
        az = force * np.cos(swing) - 9.8
        vx += 0.02 * ax
        vz += 0.02 * az
        x += 0.02 * vx
        z += 0.02 * vz
        total += vx * 0.02 - 0.001 * float(a @ a) - (0.02 if z < 0.6 else 0.0)
        if z < 0.2:
            total -= 3
            break
    return total + rng.normal(0, 0.3)


def main():
    rng = np.random.default_rng(0)
    theta = rng.normal(0, 0.05, SIZE)
    m, sigma, lr = np.zeros(SIZE), 0.05, 0.0003
    with mp.get_context("forkserver").Pool(2) as pool:
        for gen in range(100_000):
            t0 = time.time()
            eps = rng.normal(size=(36, SIZE))
            jobs = [(theta + s * sigma * e, int(rng.integers(1 << 31))) for e in eps for s in (1, -1)]
            ret = np.array(pool.map(rollout, jobs, chunksize=6)).reshape(-1, 2)
            rank = ret.ravel().argsort().argsort().reshape(ret.shape) / ret.size - 0.5
            grad = ((rank[:, 0] - rank[:, 1])[:, None] * eps).mean(0) / sigma
            m = 0.9 * m + 0.1 * grad
            theta = theta + lr * m / (np.sqrt((m * m).mean()) + 1e-8)
            rec = {"gen": gen, "return": round(float(ret.mean()), 3), "max": round(float(ret.max()), 3),
                   "spread": round(float(ret.std()), 3), "sec": round(time.time() - t0, 2)}
            print(json.dumps(rec), flush=True)
            if gen % 20 == 0:
                np.savez("policy.npz", theta=theta, gen=gen)


if __name__ == "__main__":
    main()
