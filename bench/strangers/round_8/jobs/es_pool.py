"""Evolution strategy for a pendulum controller; the population is rolled out in a process pool."""

import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

DIM = 3 * 8 + 8


def rollout(job: tuple[int, np.ndarray]) -> float:
    seed, theta = job
    rng = np.random.default_rng(seed)
    w, v = theta[:24].reshape(3, 8), theta[24:]
    angle, speed, total = rng.uniform(-0.6, 0.6), 0.0, 0.0
    for _ in range(150):
        push = float(np.tanh(np.tanh(np.array([np.sin(angle), np.cos(angle), speed]) @ w) @ v)) * 2
        speed += (7.5 * np.sin(angle) + 3 * push) * 0.03
        angle += speed * 0.03
        total -= angle * angle + 0.1 * speed * speed
    return total / 150


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    theta = 0.1 * rng.normal(size=DIM)
    sigma, alpha = 0.1, 0.02
    with ProcessPoolExecutor(2) as pool:
        for generation in range(10**6):
            noise = rng.normal(size=(24, DIM))
            noise = np.concatenate([noise, -noise])
            jobs = [(generation * 100 + i % 24, theta + sigma * n) for i, n in enumerate(noise)]
            score = np.array(list(pool.map(rollout, jobs, chunksize=8)))
            rank = score.argsort().argsort() / (len(score) - 1) - 0.5
            theta = 0.999 * theta + alpha * (rank @ noise) / (len(score) * sigma)
            print(f"gen={generation} mean_return={score.mean():.4f} best_return={score.max():.4f}")
            time.sleep(0.25)  # leave a core to the desktop
