# evolution strategies on a small walker; episodes are kept for replays in the viewer
import math
import multiprocessing as mp
import os
import struct
import time

import numpy as np

DIM = 24 * 16 + 16 * 4


class Recorder:
    """Binary track of the best episodes, appended to by the viewer export."""

    def __init__(self, path):
        self.f = open(path, "wb")

    def frame(self, pos, ang):
        self.f.write(struct.pack("<ff", pos, ang))

    def end(self, score):
        self.f.write(struct.pack("<f", score))
        self.f.flush()


def rollout(args):
    theta, seed = args
    w1, w2 = theta[:384].reshape(24, 16), theta[384:].reshape(16, 4)
    g = np.random.default_rng(seed)
    x, pos, track = g.normal(size=24), 0.0, []
    for t in range(int(g.integers(200, 800))):
        a = np.tanh(np.tanh(x @ w1) @ w2)
        x = 0.9 * x + 0.1 * np.repeat(a, 6) + 0.1 * g.normal(size=24)
        pos += 0.05 * float(a[0] * x[0] + a[1] * x[7])
        track.append((pos, math.atan2(x[1], x[2])))
    return pos, track


def main():
    os.makedirs("tracks", exist_ok=True)
    g = np.random.default_rng(0)
    theta = 0.1 * g.normal(size=DIM)
    viewer = {}
    with mp.Pool(2) as pool:
        for gen in range(1, 100000):
            t0 = time.time()
            eps = g.normal(size=(48, DIM))
            both = np.concatenate([theta + 0.05 * eps, theta - 0.05 * eps])
            res = pool.map(rollout, [(th, int(s)) for th, s in zip(both, g.integers(1 << 30, size=96))])
            fit = np.array([r[0] for r in res])
            adv = (fit[:48] - fit[48:]) / (fit.std() + 1e-8)
            theta += 0.02 * (adv @ eps) / 48
            for k in np.argsort(fit)[-2:]:
                rec = Recorder(f"tracks/g{gen:05d}_{k:02d}.trk")
                for pos, ang in res[k][1]:
                    rec.frame(pos, ang)
                rec.end(fit[k])
                viewer[gen, int(k)] = rec
            print(f"gen {gen:5d} | mean {fit.mean():8.3f} | best {fit.max():8.3f} | {time.time() - t0:.2f}s", flush=True)


if __name__ == "__main__":
    main()
