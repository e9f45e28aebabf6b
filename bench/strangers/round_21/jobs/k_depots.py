"""Evolution strategies for the replenishment of depots; two simulators, one coordinator, pipes between them."""
import multiprocessing as mp

import numpy as np

DEPOTS, DAYS = 40, 160
SHAPES = [(6, 16), (16,), (16, 1), (1,)]
SIZE = sum(int(np.prod(s)) for s in SHAPES)


def policy(theta, obs):
    parts, at = [], 0
    for shape in SHAPES:
        n = int(np.prod(shape))
        parts.append(theta[at:at + n].reshape(shape))
        at += n
    return 12 * np.log1p(np.exp(np.clip(np.tanh(obs @ parts[0] + parts[1]) @ parts[2] + parts[3], -20, 20)))[..., 0]


def cost(theta, seed):
    rng = np.random.default_rng(seed)
    level = rng.uniform(4, 20, DEPOTS)
    stock, way, total = np.full(DEPOTS, 30.0), np.zeros((3, DEPOTS)), 0.0
    for day in range(DAYS):
        season = np.sin(2 * np.pi * day / 7)
        obs = np.stack([stock / 30, way[0] / 15, way[1] / 15, way[2] / 15, level / 12,
                        np.full(DEPOTS, season)], -1)
        order = policy(theta, obs)
        stock = stock + way[0]
        way = np.vstack([way[1:], order])
        demand = rng.poisson(level * (1 + 0.4 * season))
        stock = stock - demand
        total += np.where(stock < 0, -4.0 * stock, 0.3 * stock).mean()
        stock = np.maximum(stock, 0)
    return total / DAYS


def simulator(pipe):
    while True:
        theta, sigma, seeds = pipe.recv()
        out = []
        for seed in seeds:
            noise = np.random.default_rng(seed).normal(size=SIZE)
            out.append((seed, cost(theta + sigma * noise, seed + 1) - cost(theta - sigma * noise, seed + 1)))
        pipe.send(out)


def main():
    pipes = []
    for k in range(2):
        here, there = mp.Pipe()
        mp.Process(target=simulator, args=(there,), daemon=True, name=f"sim{k}").start()
        pipes.append(here)
    rng = np.random.default_rng(0)
    theta, m, v = rng.normal(0, 0.3, SIZE), np.zeros(SIZE), np.zeros(SIZE)
    print("gen,cost,step_norm")
    for gen in range(1, 20_000):
        seeds = rng.integers(0, 2**31, 48).tolist()
        for k, pipe in enumerate(pipes):
            pipe.send((theta, 0.05, seeds[k::2]))
        results = [r for pipe in pipes for r in pipe.recv()]
        scale = np.std([d for _, d in results]) + 1e-8
        grad = sum(d / scale * np.random.default_rng(s).normal(size=SIZE) for s, d in results) / len(results)
        m, v = 0.9 * m + 0.1 * grad, 0.99 * v + 0.01 * grad ** 2
        move = 0.006 * m / (np.sqrt(v) + 1e-8)
        theta -= move
        check = np.mean([cost(theta, 10**6 + gen * 4 + i) for i in range(4)])
        print(f"{gen},{check:.3f},{np.linalg.norm(move):.4f}", flush=True)


if __name__ == "__main__":
    main()
