"""Evolution strategies for drip irrigation: two plots simulate seasons, a policy of 36 weights decides on water."""
import shutil
import signal
import tempfile
import time
import atexit

import numpy as np
import ray

DIM, POP, SIGMA, LR = 36, 12, 0.08, 0.05


def season(theta, seed, days=120):
    rng = np.random.default_rng(seed)
    w = theta.reshape(6, 6)
    moist, fruit, used = 0.5, 0.0, 0.0
    state = np.zeros(6)
    for day in range(days):
        heat = 0.5 + 0.4 * np.sin(day / 19.0) + 0.1 * rng.standard_normal()
        state = np.tanh(w @ np.array([moist, heat, fruit / 50, day / days, 1.0, state[0]]))
        water = float(np.clip(state[1], 0, 1)) * 0.2
        moist = float(np.clip(moist + water - 0.12 * heat, 0, 1))
        fruit += moist * (1 - moist)
        used += water
    return fruit - 0.6 * used


@ray.remote(num_cpus=1)
class Plot:
    def __init__(self, row):
        self.row = row

    def grow(self, theta, noises, seed):
        return [np.mean([season(theta + SIGMA * n, seed + k) for k in range(16)]) for n in noises]


@ray.remote
def holdout_yield(theta):
    return float(np.mean([season(theta, 90_000 + k) for k in range(40)]))


def main():
    scratch = tempfile.mkdtemp(prefix="orch", dir="/dev/shm")
    atexit.register(shutil.rmtree, scratch, True)

    def leave(*_):
        ray.shutdown()
        shutil.rmtree(scratch, True)
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGALRM, leave)
    signal.alarm(260)
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=90_000_000, _temp_dir=scratch)
    plots = [Plot.remote(k) for k in range(2)]
    rng = np.random.default_rng(4)
    theta = 0.1 * rng.standard_normal(DIM)
    for gen in range(1, 400):
        t0 = time.perf_counter()
        noises = rng.standard_normal((POP, DIM))
        halves = np.split(noises, 2)
        got = ray.get([p.grow.remote(theta, h, gen * 100) for p, h in zip(plots, halves)])
        score = np.concatenate([np.asarray(g) for g in got])
        adv = (score - score.mean()) / (score.std() + 1e-8)
        theta = theta + LR / (POP * SIGMA) * noises.T @ adv
        print(f"generation {gen:3d}  mean {score.mean():7.3f}  best {score.max():7.3f}  {time.perf_counter() - t0:.2f}s", flush=True)
        if gen % 25 == 0:
            print(f"-- holdout after generation {gen}", flush=True)
            print(f"-- holdout yield {ray.get(holdout_yield.remote(theta)):.3f}", flush=True)


if __name__ == "__main__":
    main()
