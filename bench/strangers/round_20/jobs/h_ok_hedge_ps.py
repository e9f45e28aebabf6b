"""Deep hedging: two workers simulate days of trading and push gradients to a parameter server over sockets."""
import multiprocessing as mp
import sys
import threading
import time
from multiprocessing.connection import Client, Listener

import numpy as np

ADDRESS, KEY = ("127.0.0.1", 35442), b"hedge"
SIZES = [3, 64, 64, 1]


def fresh(rng):
    return [rng.normal(size=(a + 1, b)) / np.sqrt(a + 1) for a, b in zip(SIZES, SIZES[1:])]


def day(rng, n=2000, steps=20):
    s = np.exp(np.cumsum(rng.normal(0, 0.06, (n, steps + 1)) - 0.0018, 1))
    s[:, 0] = 1.0
    payoff = np.maximum(s[:, -1] - 1, 0)
    t = np.tile(1 - np.arange(steps) / steps, (n, 1))
    feats = np.stack([np.log(s[:, :-1]) * 3, t, np.log(s[:, :-1]) / np.sqrt(t)], -1)
    return feats.reshape(-1, 3), np.diff(s, axis=1), payoff


def gradient(w, feats, ds, payoff):
    acts = [feats]
    for k, m in enumerate(w):
        z = acts[-1] @ m[:-1] + m[-1]
        acts.append(np.tanh(z) if k < len(w) - 1 else 1 / (1 + np.exp(-z)))
    held = acts[-1].reshape(ds.shape)
    pnl = (held * ds).sum(1) - payoff
    pnl0 = pnl - pnl.mean()
    loss = (pnl0 ** 2).mean()
    d = (2 * pnl0[:, None] * ds / len(ds)).reshape(-1, 1) * acts[-1] * (1 - acts[-1])
    out = []
    for k in range(len(w) - 1, -1, -1):
        out.insert(0, np.vstack([acts[k].T @ d, d.sum(0)]))
        if k:
            d = d @ w[k][:-1].T * (1 - acts[k] ** 2)
    return loss, out


def worker(index):
    rng = np.random.default_rng(50 + index)
    conn = Client(ADDRESS, authkey=KEY)
    conn.send(index)
    while True:
        w = conn.recv()
        conn.send(gradient(w, *day(rng)))


def serve():
    w = fresh(np.random.default_rng(0))
    m, v, lock, state = [0 * x for x in w], [0 * x for x in w], threading.Lock(), {"t": 0, "ema": None}
    cycle, began = 160, time.time()

    def attend(conn):
        who = conn.recv()
        while True:
            conn.send(w)
            loss, g = conn.recv()
            with lock:
                state["t"] += 1
                t = state["t"]
                lr = 1e-5 + 4e-4 * 0.5 * (1 + np.cos(np.pi * (t % cycle) / cycle))
                for k in range(len(w)):
                    m[k] = 0.9 * m[k] + 0.1 * g[k]
                    v[k] = 0.999 * v[k] + 0.001 * g[k] ** 2
                    w[k] = w[k] - lr * (m[k] / (1 - 0.9 ** t)) / (np.sqrt(v[k] / (1 - 0.999 ** t)) + 1e-8)
                state["ema"] = loss if state["ema"] is None else 0.95 * state["ema"] + 0.05 * loss
                if t % 10 == 0:
                    print(f"t={t:6d} from=w{who} var(pnl)={1e3 * loss:8.4f}e-3 ema={1e3 * state['ema']:8.4f}e-3 lr={lr:.2e} up={time.time() - began:.0f}s")
                if t % cycle == 0:
                    np.savez("hedge.npz", *w)
                    print(f"-- cycle {t // cycle} over, snapshot written, lr restarts")

    with Listener(ADDRESS, authkey=KEY) as listener:
        threads = [threading.Thread(target=attend, args=(listener.accept(),)) for _ in range(2)]
        for th in threads:
            th.start()
        for th in threads:
            th.join()


if __name__ == "__main__":
    server = mp.Process(target=serve, name="server")
    server.start()
    time.sleep(1)
    workers = [mp.Process(target=worker, args=(k,), name=f"worker{k}") for k in range(2)]
    for p in workers:
        p.start()
    sys.exit(server.join())
