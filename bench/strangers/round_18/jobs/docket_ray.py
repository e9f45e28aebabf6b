"""Docket outcome model: a learner and a scorer as Ray actors, that exchange weights and hard examples."""
import time

import numpy as np
import ray

ray.init(num_cpus=2, include_dashboard=False, log_to_driver=True, object_store_memory=120_000_000)


@ray.remote(num_cpus=0.5)
class Learner:
    def __init__(self, dim):
        self.w = np.zeros(dim)
        self.scorer = None
        self.steps = 0

    def meet(self, scorer):
        self.scorer = scorer

    def weights(self):
        return self.w

    def fit(self, x, y):
        for _ in range(40):
            p = 1 / (1 + np.exp(-x @ self.w))
            self.w -= 0.05 * x.T @ (p - y) / len(y)
        self.steps += 1
        if self.steps % 30 == 0:
            hard_x, hard_y = ray.get(self.scorer.hardest.remote(64))
            p = 1 / (1 + np.exp(-hard_x @ self.w))
            self.w -= 0.05 * hard_x.T @ (p - hard_y) / 64
        p = 1 / (1 + np.exp(-x @ self.w))
        return float(-(y * np.log(p + 1e-9) + (1 - y) * np.log(1 - p + 1e-9)).mean())


@ray.remote(num_cpus=0.5)
class Scorer:
    def __init__(self, x, y):
        self.x, self.y = x, y
        self.learner = None

    def meet(self, learner):
        self.learner = learner

    def hardest(self, k):
        w = ray.get(self.learner.weights.remote())
        gap = np.abs(1 / (1 + np.exp(-self.x @ w)) - self.y)
        index = np.argsort(-gap)[:k]
        return self.x[index], self.y[index]


rng = np.random.default_rng(2)
x = rng.normal(size=(30000, 200))
y = (x[:, :5].sum(1) > 0).astype(float)
learner, scorer = Learner.remote(200), Scorer.remote(x, y)
ray.get([learner.meet.remote(scorer), scorer.meet.remote(learner)])
for i in range(100000):
    rows = rng.integers(0, len(x), 2000)
    loss = ray.get(learner.fit.remote(x[rows], y[rows]))
    time.sleep(0.1)
    if i % 4 == 0:
        print(f"<docket> update#{i} logloss={loss:.4f}", flush=True)
