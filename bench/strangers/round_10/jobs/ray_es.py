"""Evolution strategies on Pendulum, two Ray actors."""
import logging
import time

import gymnasium as gym
import numpy as np
import ray

ray.init(num_cpus=2, include_dashboard=False, object_store_memory=80_000_000, logging_level=logging.WARNING)
H = 16


def act(w, o):
    h = np.tanh(w[: 3 * H].reshape(3, H).T @ o + w[3 * H : 4 * H])
    return np.clip(2 * np.array([w[4 * H : 5 * H] @ h]), -2, 2).astype("float32")


@ray.remote(num_cpus=1)
class Rollout:
    def __init__(self, k):
        self.env, self.rng = gym.make("Pendulum-v1"), np.random.default_rng(k)

    def run(self, w, n, sigma):
        out = []
        for _ in range(n):
            e = self.rng.normal(size=w.shape)
            seed = int(self.rng.integers(1 << 30))
            r = [self.episode(w + s * sigma * e, seed) for s in (1, -1)]
            out.append((e, r[0] - r[1], (r[0] + r[1]) / 2))
        return out

    def episode(self, w, seed):
        o, _ = self.env.reset(seed=seed)
        total, done = 0.0, False
        while not done:
            o, r, a, b, _ = self.env.step(act(w, o))
            total, done = total + r, a or b
        return total


actors = [Rollout.remote(k) for k in range(2)]
w, m = np.random.default_rng(9).normal(size=5 * H) * 0.3, np.zeros(5 * H)
t0 = time.time()
for gen in range(1, 5001):
    parts = sum(ray.get([a.run.remote(w, 8, 0.1) for a in actors]), [])
    d = np.array([p[1] for p in parts])
    grad = sum(p[0] * x for p, x in zip(parts, d / (d.std() + 1e-8)))
    m = 0.9 * m + 0.1 * grad
    w = w + 0.03 * m
    print(f"gen {gen:4d}  mean return {np.mean([p[2] for p in parts]):9.1f}  spread {d.std():8.1f}  |w| {np.linalg.norm(w):.2f}  {time.time()-t0:.0f}s", flush=True)
