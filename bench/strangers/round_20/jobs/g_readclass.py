"""Classify reads (host / contaminant) with a small motif network in numpy.

    g_readclass.py launch 2          starts the workers
    gradients are summed at worker 0 over TCP
"""
import os
import pickle
import socket
import struct
import subprocess
import sys
import time

import numpy as np

PORT = 35221
K, M = 11, 96


def send(s, obj):
    b = pickle.dumps(obj, protocol=5)
    s.sendall(struct.pack("<Q", len(b)) + b)


def recv(s):
    need = struct.unpack("<Q", s.recv(8, socket.MSG_WAITALL))[0]
    buf = bytearray()
    while len(buf) < need:
        part = s.recv(min(1 << 20, need - len(buf)))
        if not part:
            raise EOFError("peer left")
        buf += part
    return pickle.loads(buf)


class Star:
    def __init__(self, rank, world):
        self.rank, self.world = rank, world
        if rank == 0:
            srv = socket.create_server(("127.0.0.1", PORT))
            self.peers = [srv.accept()[0] for _ in range(world - 1)]
        else:
            for _ in range(200):
                try:
                    self.up = socket.create_connection(("127.0.0.1", PORT))
                    break
                except OSError:
                    time.sleep(0.1)

    def mean(self, arrays):
        if self.rank == 0:
            for p in self.peers:
                for a, b in zip(arrays, recv(p)):
                    a += b
            arrays = [a / self.world for a in arrays]
            for p in self.peers:
                send(p, arrays)
            return arrays
        send(self.up, arrays)
        return recv(self.up)


def make_reads(n=6000, seed=1):
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.lognormal(5.6, 0.8, n), 80, 2400).astype(int)
    motif = rng.integers(0, 4, 9)
    reads, labels = [], rng.integers(0, 2, n)
    for L, y in zip(lengths, labels):
        r = rng.integers(0, 4, L)
        if y:
            for _ in range(2 + L // 120):
                at = rng.integers(0, L - 9)
                r[at:at + 9] = np.where(rng.random(9) < 0.9, motif, r[at:at + 9])
        reads.append(r.astype(np.int8))
    return reads, labels


def batch_of(reads, idx):
    L = max(len(reads[i]) for i in idx)
    x = np.zeros((len(idx), L, 4), np.float32)
    for row, i in enumerate(idx):
        x[row, np.arange(len(reads[i])), reads[i]] = 1
    return x


def loss_and_grads(x, y, W, b, v, c):
    B, L, _ = x.shape
    win = np.lib.stride_tricks.sliding_window_view(x, K, axis=1).reshape(B, L - K + 1, 4 * K)
    h = win @ W + b
    at = h.argmax(1)
    top = np.take_along_axis(h, at[:, None, :], 1)[:, 0]
    act = np.maximum(top, 0)
    z = act @ v + c
    p = 1 / (1 + np.exp(-z))
    loss = -np.mean(y * np.log(p + 1e-7) + (1 - y) * np.log(1 - p + 1e-7))
    dz = (p - y) / B
    dact = np.outer(dz, v) * (top > 0)
    gW = np.zeros_like(W)
    for i in range(B):
        gW += (win[i, at[i]] * dact[i][:, None]).T
    return loss, np.mean((p > .5) == y), [gW, dact.sum(0), act.T @ dz, np.array([dz.sum()])]


def train(rank, world):
    reads, labels = make_reads()
    order = sorted(range(len(reads)), key=lambda i: len(reads[i]))
    per = len(order) // world
    mine = order[rank * per:(rank + 1) * per]
    star = Star(rank, world)
    rng = np.random.default_rng(100 + rank)
    w = np.random.default_rng(0)
    P = [w.normal(0, .2, (4 * K, M)).astype("f4"), np.zeros(M, "f4"), w.normal(0, .2, M).astype("f4"), np.zeros(1, "f4")]
    m = [np.zeros_like(p) for p in P]
    s = [np.zeros_like(p) for p in P]
    t0 = time.time()
    for it in range(1, 100001):
        idx = rng.choice(mine, 48, replace=False)
        loss, acc, g = loss_and_grads(batch_of(reads, idx), labels[idx], *P)
        g = star.mean(g)
        for p, d, a, q in zip(P, g, m, s):
            a += .1 * (d - a)
            q += .01 * (d * d - q)
            p -= (7e-4 * (a / (1 - .9 ** it)) / (np.sqrt(q / (1 - .99 ** it)) + 1e-8)).astype("f4")
        if it % 10 == 0:
            print(f"[worker {rank}] iteration={it} nll={loss:.4f} acc={acc:.3f} elapsed={time.time() - t0:.1f}s", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["launch"]:
        world = int(sys.argv[2])
        kids = [subprocess.Popen([sys.executable, __file__], env={**os.environ, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": str(world)})
                for r in range(world)]
        sys.exit(max(k.wait() for k in kids))
    train(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
