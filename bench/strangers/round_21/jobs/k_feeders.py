#!/usr/bin/env python
"""Two substations learn one demand model and average their gradients over a plain TCP connection."""
import os
import socket
import sys
import time
from multiprocessing import get_context

import numpy as np

PORT = int(os.environ.get("PEER_PORT", "36020"))


class Peer:
    def __init__(self, rank):
        if rank == 0:
            with socket.create_server(("127.0.0.1", PORT)) as server:
                self.sock, _ = server.accept()
        else:
            for _ in range(200):
                try:
                    self.sock = socket.create_connection(("127.0.0.1", PORT))
                    break
                except ConnectionRefusedError:
                    time.sleep(0.1)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def mean(self, array):
        self.sock.sendall(array.tobytes())
        other = np.empty_like(array)
        view = memoryview(other).cast("B")
        while len(view):
            n = self.sock.recv_into(view)
            if not n:
                raise ConnectionError("peer has gone")
            view = view[n:]
        return (array + other) / 2


class MLP:
    def __init__(self, sizes, rng):
        self.w = [rng.normal(0, (1.5 / a) ** 0.5, (a, b)).astype("f4") for a, b in zip(sizes, sizes[1:])]

    def gradient(self, x, y):
        acts = [x]
        for w in self.w[:-1]:
            acts.append(np.tanh(acts[-1] @ w))
        err = acts[-1] @ self.w[-1] - y
        loss, delta, grads = float((err ** 2).mean()), 2 * err / len(x), []
        for k in range(len(self.w) - 1, -1, -1):
            grads.insert(0, acts[k].T @ delta)
            if k:
                delta = (delta @ self.w[k].T) * (1 - acts[k] ** 2)
        return loss, grads


def train(rank):
    peer = Peer(rank)
    data, init = np.random.default_rng(10 + rank), np.random.default_rng(1)
    truth = np.random.default_rng(2).normal(0, 0.3, (96, 4)).astype("f4")
    for stage, (width, steps) in enumerate([(64, 1500), (256, 1000), (3600, 2000)], 1):
        net = MLP([96, width, width, 4], init)
        if rank == 0:
            print(f"== stage {stage}: width {width}, {sum(w.size for w in net.w)} weights")
        for step in range(1, steps + 1):
            x = data.normal(size=(64, 96)).astype("f4")
            y = np.tanh(x @ truth)
            loss, grads = net.gradient(x, y)
            for w, g in zip(net.w, grads):
                w -= 0.02 * peer.mean(g)
            if rank == 0 and step % 50 == 0:
                print(f"   stage {stage} step {step:5d} mse {loss:.4f}")


if __name__ == "__main__":
    ctx = get_context("spawn")
    workers = [ctx.Process(target=train, args=(r,), name=f"substation{r}", daemon=True) for r in range(2)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    sys.exit(max(abs(w.exitcode) for w in workers))
