#!/usr/bin/env python
# Tabular regression, numpy only; workers average their gradients over TCP.
import multiprocessing as mp
import os
import socket
import struct
import sys
import time

import numpy as np

PORT = 23210
D, H, B = 384, 192, 64


def export(folder):
    """Shards as they come from the two ETL exports."""
    rng = np.random.default_rng(3)
    w = rng.normal(size=(D, 1)) / np.sqrt(D)
    for k, kind in enumerate(("<f4", "<f2")):
        x = rng.normal(size=(20000, D))
        y = np.tanh(x @ w) + 0.1 * rng.normal(size=(20000, 1))
        np.save(f"{folder}/x{k}.npy", x.astype(kind))
        np.save(f"{folder}/y{k}.npy", y.astype("<f4"))


def recv_exact(s, n):
    buf = bytearray()
    while len(buf) < n:
        part = s.recv(n - len(buf))
        if not part:
            raise ConnectionError("peer left")
        buf += part
    return bytes(buf)


def swap(s, flat, first):
    raw = flat.tobytes()
    if first:
        s.sendall(struct.pack("<I", len(raw)) + raw)
    n, = struct.unpack("<I", recv_exact(s, 4))
    other = np.frombuffer(recv_exact(s, n), np.float32)
    if not first:
        s.sendall(struct.pack("<I", len(raw)) + raw)
    return (flat + other) / 2


def worker(rank, folder):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2")
    if rank == 0:
        l = socket.create_server(("127.0.0.1", PORT))
        s, _ = l.accept()
    else:
        for _ in range(100):
            try:
                s = socket.create_connection(("127.0.0.1", PORT))
                break
            except OSError:
                time.sleep(0.2)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    x, y = np.load(f"{folder}/x{rank}.npy"), np.load(f"{folder}/y{rank}.npy")
    init = np.random.default_rng(0)
    w1 = (init.normal(size=(D, H)) / np.sqrt(D)).astype(np.float32)
    w2 = (init.normal(size=(H, 1)) / np.sqrt(H)).astype(np.float32)
    rng = np.random.default_rng(100 + rank)
    tic = time.time()
    for step in range(1, 100000):
        pick = rng.integers(len(x), size=B)
        xb, yb = x[pick], y[pick]
        h = np.maximum(xb @ w1.astype(xb.dtype), 0)
        p = h.astype(np.float32) @ w2
        err = p - yb
        g2 = h.astype(np.float32).T @ err / B
        gh = (err @ w2.T) * (h > 0) / B
        g1 = xb.T @ gh.astype(xb.dtype)
        flat = np.concatenate([g1.astype(np.float32).ravel(), g2.ravel()])
        flat = swap(s, flat, rank == 0)
        w1 -= 0.004 * flat[:D * H].reshape(D, H)
        w2 -= 0.004 * flat[D * H:].reshape(H, 1)
        if step % 10 == 0:
            took = (time.time() - tic) / 10
            tic = time.time()
            sys.stdout.write(f"w{rank} step={step} mse={float((err ** 2).mean()):.5f} sec/step={took:.3f}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    mp.set_start_method("spawn")
    export(".")
    ps = [mp.Process(target=worker, args=(r, "."), name=f"worker-{r}") for r in range(2)]
    [p.start() for p in ps]
    [p.join() for p in ps]
