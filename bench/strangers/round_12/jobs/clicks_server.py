"""Synchronous parameter server for the click model. One server, N trainers, each with its own feed.

    python clicks_server.py --trainers 3 --port 31110
"""
import argparse
import json
import os
import subprocess
import sys
import time
from multiprocessing.connection import Client, Listener

import numpy as np

DIM = 512
KEY = b"clicks"


def emit(**kw):
    print(json.dumps({"ts": round(time.time(), 3), **kw}), flush=True)


class Feed:
    """Rows of one publisher."""

    def __init__(self, seed, has_ids):
        self.rng = np.random.default_rng(seed)
        self.truth = np.random.default_rng(7).normal(size=DIM) / 12
        self.has_ids = has_ids
        self.history = []
        self.ids = set()

    def rows(self, n):
        x = self.rng.normal(size=(n, DIM)).astype(np.float32)
        return x, np.arange(n) + int(self.rng.integers(1 << 60))

    def fresh(self, n):
        x, ids = self.rows(n)
        keep = []
        for row, key in zip(x, ids):
            if self.has_ids:
                if int(key) in self.ids:
                    continue
                self.ids.add(int(key))
            else:
                # this publisher does not send event ids: compare the features
                if any(np.array_equal(row, old) for old in self.history):
                    continue
                self.history.append(row)
            keep.append(row)
        x = np.stack(keep)
        y = (self.rng.random(len(x)) < 1 / (1 + np.exp(-x @ self.truth * 4))).astype(np.float32)
        return x, y


def trainer(rank, port):
    feed = Feed(rank, has_ids=rank != 1)
    for _ in range(50):
        try:
            conn = Client(("127.0.0.1", port), authkey=KEY)
            break
        except ConnectionRefusedError:
            time.sleep(0.2)
    conn.send(rank)
    while True:
        w = conn.recv()
        if w is None:
            return
        x, y = feed.fresh(40)
        p = 1 / (1 + np.exp(-(x @ w)))
        loss = float(-np.mean(y * np.log(p + 1e-7) + (1 - y) * np.log(1 - p + 1e-7)))
        conn.send((loss, x.T @ (p - y) / len(x)))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--trainers", type=int, default=3)
    ap.add_argument("--port", type=int, default=31110)
    ap.add_argument("--rank", type=int)
    a = ap.parse_args()
    if a.rank is not None:
        return trainer(a.rank, a.port)
    listener = Listener(("127.0.0.1", a.port), backlog=8, authkey=KEY)
    for r in range(a.trainers):
        env = dict(os.environ, RANK=str(r), WORLD_SIZE=str(a.trainers), LOCAL_RANK=str(r))
        subprocess.Popen([sys.executable, __file__, "--rank", str(r), "--port", str(a.port)], env=env)
    conns = {}
    while len(conns) < a.trainers:
        c = listener.accept()
        conns[c.recv()] = c
    emit(event="all_connected", trainers=a.trainers)
    w = np.zeros(DIM, dtype=np.float32)
    for rnd in range(10**6):
        t0 = time.time()
        for c in conns.values():
            c.send(w)
        out = [conns[r].recv() for r in range(a.trainers)]
        w = w - 0.1 * np.mean([g for _, g in out], axis=0).astype(np.float32)
        emit(event="round", round=rnd, logloss=round(float(np.mean([l for l, _ in out])), 5), secs=round(time.time() - t0, 4))


if __name__ == "__main__":
    main()
