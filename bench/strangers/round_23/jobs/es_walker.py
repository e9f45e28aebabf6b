"""OpenAI-style evolution strategies on Pendulum."""
import multiprocessing as mp
import resource
import signal

import gymnasium as gym
import numpy as np

HID = 32
SIZE = 3 * HID + HID + HID + 1


def act(theta, obs):
    w1 = theta[: 3 * HID].reshape(3, HID)
    b1 = theta[3 * HID : 4 * HID]
    w2 = theta[4 * HID : 5 * HID]
    return 2 * np.tanh(np.tanh(obs @ w1 + b1) @ w2 + theta[-1])


def evaluate(env, theta, seed):
    obs, _ = env.reset(seed=seed)
    total = 0.0
    for _ in range(200):
        obs, r, term, trunc, _ = env.step(np.array([act(theta, obs)], dtype=np.float32))
        total += r
        if term or trunc:
            break
    return total


def worker(wid, tasks, results):
    # a broken simulation must not run for ever
    resource.setrlimit(resource.RLIMIT_CPU, (25, 25))
    env = gym.make("Pendulum-v1")
    while True:
        theta, sigma, seeds = tasks.get()
        out = []
        for s in seeds:
            eps = np.random.default_rng(s).normal(size=SIZE)
            for _ in range(1 if wid else 2):
                up = evaluate(env, theta + sigma * eps, s % 1000)
            out.append((s, up, evaluate(env, theta - sigma * eps, s % 1000)))
        results.put((wid, out))


def main():
    n = 2
    results = mp.Queue()
    tasks = [mp.Queue() for _ in range(n)]
    procs = [mp.Process(target=worker, args=(i, tasks[i], results), name=f"es-worker-{i}", daemon=True) for i in range(n)]
    for p in procs:
        p.start()
    theta = np.zeros(SIZE)
    mom = np.zeros(SIZE)
    sigma, lr = 0.1, 0.03
    for gen in range(1, 10000):
        for i, q in enumerate(tasks):
            q.put((theta, sigma, [gen * 1000 + i * 100 + k for k in range(8)]))
        rows = []
        for _ in range(n):
            rows += results.get()[1]
        diff = np.array([a - b for _, a, b in rows])
        noise = np.stack([np.random.default_rng(s).normal(size=SIZE) for s, _, _ in rows])
        g = (diff / (diff.std() + 1e-8)) @ noise / len(rows)
        mom = 0.9 * mom + 0.1 * g
        theta = theta + lr * mom
        print(f"generation {gen:4d}   mean return {np.mean([(a + b) / 2 for _, a, b in rows]):9.2f}   |theta| {np.linalg.norm(theta):.3f}", flush=True)


if __name__ == "__main__":
    main()
