"""REINFORCE with a baseline on a cart-pole written out by hand; actors are processes.

usage: polecart.py [n_actors]
"""
import math
import multiprocessing as mp
import os
import sys

import numpy as np

N = int(sys.argv[1]) if len(sys.argv) > 1 else 2
PARAMS = 4 * 16 + 16 * 2


def unpack(theta):
    return theta[:64].reshape(4, 16), theta[64:].reshape(16, 2)


def episode(theta, rng):
    w1, w2 = unpack(theta)
    s = rng.uniform(-0.05, 0.05, 4)
    total, grad = 0, np.zeros_like(theta)
    for _ in range(300):
        h = np.tanh(s @ w1)
        z = h @ w2
        p = np.exp(z - z.max()); p /= p.sum()
        a = int(rng.random() > p[0])
        d = -p; d[a] += 1
        grad[64:] += np.outer(h, d).ravel()
        grad[:64] += np.outer(s, (w2 @ d) * (1 - h * h)).ravel()
        x, v, t, w = s
        f = 10 if a else -10
        tmp = (f + 0.05 * w * w * math.sin(t)) / 1.1
        al = (9.8 * math.sin(t) - math.cos(t) * tmp) / (0.5 * (4 / 3 - 0.1 * math.cos(t) ** 2 / 1.1))
        s = np.array([x + 0.02 * v, v + 0.02 * (tmp - 0.05 * al * math.cos(t) / 1.1), t + 0.02 * w, w + 0.02 * al])
        total += 1
        if abs(s[0]) > 2.4 or abs(s[2]) > 0.21:
            break
    return total, grad


def actor(k, inbox, outbox):
    with open(f"actor{k}.pid", "w") as f:
        f.write(str(os.getpid()))
    rng = np.random.default_rng(k)
    while True:
        theta = inbox.get()
        if theta is None:
            return
        outbox.put((k, [episode(theta, rng) for _ in range(6)]))


def learn():
    outbox = mp.Queue()
    inboxes = [mp.Queue() for _ in range(N)]
    procs = [mp.Process(target=actor, args=(k, inboxes[k], outbox), daemon=True, name=f"actor-{k}") for k in range(N)]
    for p in procs:
        p.start()
    theta = np.random.default_rng(0).normal(0, 0.1, PARAMS)
    baseline, best = 0.0, 0
    for update in range(1_000_000):
        for q in inboxes:
            q.put(theta)
        eps = []
        for _ in range(N):
            _, e = outbox.get()
            eps += e
        returns = np.array([r for r, _ in eps], float)
        baseline = 0.95 * baseline + 0.05 * returns.mean()
        g = sum((r - baseline) * gr for r, gr in eps) / len(eps)
        theta = theta + 0.02 * g / (1e-8 + np.linalg.norm(g))
        best = max(best, returns.max())
        if update % 10 == 0:
            print(f"upd {update:6d} | ep_ret_mean {returns.mean():8.2f} | ep_ret_std {returns.std():7.2f} | best {best:.0f} | "
                  f"pi_loss {-(returns - baseline).mean():+9.3f} | v_loss {((returns - baseline) ** 2).mean():10.2f}", flush=True)


if __name__ == "__main__":
    learn()
