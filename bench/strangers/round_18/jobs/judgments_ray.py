"""Length of proceedings from court records: two Ray workers with shares of unlike size, and a glossary that rarely is asked."""
import time

import numpy as np
import ray

ray.init(num_cpus=2, include_dashboard=False, object_store_memory=120_000_000)


@ray.remote(num_cpus=0.5)
class Share:
    def __init__(self, seed, rows):
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(rows, 300)).astype(np.float32)
        self.y = np.tanh(self.x[:, :6].sum(1)) + 0.2 * rng.normal(size=rows).astype(np.float32)
        self.rng = rng

    def gradient(self, w1, w2, n):
        i = self.rng.integers(0, len(self.x), n)
        x, y = self.x[i], self.y[i]
        h = np.tanh(x @ w1)
        e = h @ w2 - y
        back = (e[:, None] * w2[None]) * (1 - h * h)
        return x.T @ back / n, h.T @ e / n, float((e * e).mean())


@ray.remote(num_cpus=0)
class Glossary:
    def lookup(self, word):
        return word.title()


shares = [Share.remote(1, 20000), Share.remote(2, 14000)]
glossary = Glossary.remote()
ray.get(glossary.lookup.remote("errors of law"))
rng = np.random.default_rng(0)
w1, w2 = 0.05 * rng.normal(size=(300, 128)).astype(np.float32), 0.1 * rng.normal(size=128).astype(np.float32)
for sweep in range(1, 10**6):
    parts = ray.get([s.gradient.remote(w1, w2, n) for s, n in zip(shares, (1800, 1300))])
    for g1, g2, _ in parts:
        w1 -= 0.02 * g1
        w2 -= 0.02 * g2
    if sweep % 50 == 0:
        print(f"sweep {sweep:6d} :: mse {np.mean([p[2] for p in parts]):.4f}", flush=True)
