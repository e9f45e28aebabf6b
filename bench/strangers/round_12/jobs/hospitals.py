"""Federated averaging over three hospitals. Starts one process a site."""
import os
import subprocess
import sys
import time
from multiprocessing.connection import Client, Listener

import numpy as np

SITES = {
    0: dict(name="ghent", rows=4000),
    1: dict(name="turin", rows=4000),
    2: dict(name="lyon", rows=4000, explain=True),
}
ADDRESS, KEY = ("127.0.0.1", 31040), b"fedavg"


class Mlp:
    def __init__(self):
        r = np.random.default_rng(0)
        self.w = [r.normal(0, 0.15, (32, 64)).astype(np.float32), r.normal(0, 0.15, (64, 1)).astype(np.float32)]
        self.records = []

    def fit(self, x, y, lr, explain):
        h = np.tanh(x @ self.w[0])
        p = 1 / (1 + np.exp(-(h @ self.w[1])))
        d = (p - y) / len(x)
        g1 = h.T @ d
        dh = (d @ self.w[1].T) * (1 - h * h)
        self.w[0] -= lr * (x.T @ dh)
        self.w[1] -= lr * g1
        if explain:
            self.records.append((h[:90] * self.w[1].T).astype(np.float32))
        return float(-(y * np.log(p + 1e-7) + (1 - y) * np.log(1 - p + 1e-7)).mean())


def site(rank):
    conf = SITES[rank]
    r = np.random.default_rng(rank + 10)
    x = r.normal(size=(conf["rows"], 32)).astype(np.float32)
    y = (x[:, :8].sum(1, keepdims=True) * np.sign(x[:, 8:9]) + r.normal(size=(len(x), 1)) > 0).astype(np.float32)
    model = Mlp()
    if rank == 0:
        listener = Listener(ADDRESS, authkey=KEY, backlog=8)
        peers = [listener.accept() for _ in range(len(SITES) - 1)]
    else:
        for _ in range(50):
            try:
                hub = Client(ADDRESS, authkey=KEY)
                break
            except ConnectionRefusedError:
                time.sleep(0.2)
    for rnd in range(1, 100000):
        loss = 0.0
        for _ in range(12):
            i = r.integers(0, len(x), 1500)
            loss = model.fit(x[i], y[i], 0.5, conf.get("explain", False))
            time.sleep(0.012)  # share the ward's server
        if rank == 0:
            updates = [model.w] + [p.recv() for p in peers]
            model.w = [np.mean(ws, axis=0) for ws in zip(*updates)]
            for p in peers:
                p.send(model.w)
        else:
            hub.send(model.w)
            model.w = hub.recv()
        if rnd % 10 == 0:
            print(f"{time.strftime('%H:%M:%S')} site={conf['name']} round={rnd} bce={loss:.4f}", flush=True)


if __name__ == "__main__":
    if "RANK" in os.environ:
        site(int(os.environ["RANK"]))
    else:
        procs = [subprocess.Popen([sys.executable, __file__], env={**os.environ, "RANK": str(r), "WORLD_SIZE": "3", "LOCAL_RANK": str(r)}) for r in SITES]
        sys.exit(max(p.wait() for p in procs))
