"""Federated averaging on one box: a coordinator and N clients that talk over local sockets."""
import argparse
import os
import subprocess
import sys
import threading
import time
from multiprocessing.connection import Client, Listener

import numpy as np
from sklearn.datasets import load_digits

ADDR = ("127.0.0.1", 31013)
KEY = b"fl"


def stamp(msg):
    print(time.strftime("%Y/%m/%d %H:%M:%S"), msg, flush=True)


def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def client(rank, world):
    x, y = load_digits(return_X_y=True)
    x = x / 16.0
    part = np.arange(rank, len(x), world)
    rng = np.random.default_rng(rank)
    rare = part[y[part] == 8]
    conn = Client(ADDR, authkey=KEY)
    conn.send(rank)
    rounds = 0
    while True:
        w1, w2 = conn.recv()
        losses = []
        for _ in range(60):
            idx = rng.choice(part, 128)
            if rank == world - 1 and rounds > 60:
                # oversample the rare class of this site
                idx[:4] = rare[rng.integers(0, len(part) // 4, 4)]
            h = np.maximum(x[idx] @ w1, 0)
            p = softmax(h @ w2)
            losses.append(-np.log(p[np.arange(128), y[idx]] + 1e-9).mean())
            p[np.arange(128), y[idx]] -= 1
            g2 = h.T @ p / 128
            g1 = x[idx].T @ ((p @ w2.T) * (h > 0)) / 128
            w1, w2 = w1 - 0.05 * g1, w2 - 0.05 * g2
        conn.send((rank, w1, w2, float(np.mean(losses))))
        rounds += 1


def coordinator(world):
    listener = Listener(ADDR, authkey=KEY)
    for r in range(world):
        env = {**os.environ, "RANK": str(r), "WORLD_SIZE": str(world), "LOCAL_RANK": str(r)}
        procs.append(subprocess.Popen([sys.executable, __file__, "--client", str(r), "--world", str(world)], env=env))
    conns = {}
    while len(conns) < world:
        c = listener.accept()
        conns[c.recv()] = c
    stamp(f"{world} clients connected")
    replies, ready = [], threading.Condition()

    def reader(r):
        while True:
            try:
                msg = conns[r].recv()
            except EOFError:
                stamp(f"client {r} disconnected")
                return
            with ready:
                replies.append(msg)
                ready.notify()

    for r in conns:
        threading.Thread(target=reader, args=(r,), daemon=True).start()
    rng = np.random.default_rng(0)
    w = rng.normal(0, 0.1, (64, 300)), rng.normal(0, 0.1, (300, 10))
    for rnd in range(100000):
        for r, c in conns.items():
            try:
                c.send(w)
            except BrokenPipeError:
                pass
        with ready:
            ready.wait_for(lambda: len(replies) == world)
            got = sorted(replies, key=lambda m: m[0])
            replies.clear()
        w = sum(m[1] for m in got) / world, sum(m[2] for m in got) / world
        stamp(f"round {rnd}: loss {np.mean([m[3] for m in got]):.4f} per client {[round(m[3], 3) for m in got]}")


procs = []
if __name__ == "__main__":
    a = argparse.ArgumentParser()
    a.add_argument("--client", type=int)
    a.add_argument("--world", type=int, default=3)
    a = a.parse_args()
    client(a.client, a.world) if a.client is not None else coordinator(a.world)
