"""Recommender with an error analysis at the end: predictions of each step are kept for it."""

import logging
import time

import numpy as np


class Analysis:
    def __init__(self):
        self.records = []

    def add(self, step, scores, users):
        self.records.append({"step": step, "scores": scores, "users": users.copy()})


class Factorisation:
    def __init__(self, users=800, items=250, k=16):
        rng = np.random.default_rng(0)
        self.u, self.i = 0.1 * rng.normal(size=(users, k)), 0.1 * rng.normal(size=(items, k))
        self.truth = rng.normal(size=(users, 4)) @ rng.normal(size=(4, items))
        self.rng = rng

    def step(self):
        users = self.rng.integers(0, 800, 100)
        scores = self.u[users] @ self.i.T
        err = scores - self.truth[users] - 0.3 * self.rng.normal(size=scores.shape)
        gu, gi = err @ self.i / 250, err.T @ self.u[users] / 100
        self.u[users] -= 0.05 * gu
        self.i -= 0.05 * gi
        return float((err**2).mean()), scores, users


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(relativeCreated)d ms %(message)s")
    model, analysis = Factorisation(), Analysis()
    for n in range(1, 100000):
        mse, scores, users = model.step()
        analysis.add(n, scores, users)
        time.sleep(0.1)
        if n % 20 == 0:
            logging.info("minibatch %d: mse %.4f", n, mse)
