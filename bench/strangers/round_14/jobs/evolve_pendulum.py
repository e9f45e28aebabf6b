"""Evolution strategy on Pendulum with a pool of two."""
import json
import multiprocessing as mp
import time

import gymnasium as gym
import numpy as np

H = 24
SIZE = 3 * H + H + H + 1
env = None


def rollout(job):
    global env
    if env is None:
        env = gym.make("Pendulum-v1")
    w, seed = job
    w1, b1, w2, b2 = w[:3 * H].reshape(3, H), w[3 * H:4 * H], w[4 * H:5 * H], w[-1]
    obs, _ = env.reset(seed=seed)
    total = 0.0
    done = False
    while not done:
        a = np.tanh(np.tanh(obs @ w1 + b1) @ w2 + b2) * 2
        obs, rew, term, trunc, _ = env.step(np.array([a], dtype=np.float32))
        total += float(rew)
        done = term or trunc
    return total


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    theta = rng.normal(0, 0.3, SIZE)
    with mp.Pool(2) as pool, open("es.jsonl", "w") as log:
        for gen in range(1, 100000):
            t = time.time()
            eps = rng.normal(size=(24, SIZE))
            jobs = [(theta + 0.1 * s * e, gen * 100 + i) for i, e in enumerate(eps) for s in (1, -1)]
            r = np.array(pool.map(rollout, jobs, chunksize=2)).reshape(24, 2)
            rank = np.argsort(np.argsort(r.ravel())).reshape(24, 2) / 47 - 0.5
            theta = theta + 0.15 * ((rank[:, :1] - rank[:, 1:]) * eps).mean(0)
            line = {"generation": gen, "mean_return": round(float(r.mean()), 1), "best": round(float(r.max()), 1), "sec": round(time.time() - t, 2)}
            log.write(json.dumps(line) + "\n")
            log.flush()
            if gen % 2 == 0:
                print(json.dumps(line))
            if gen % 20 == 0:
                np.save("theta.npy", theta)
