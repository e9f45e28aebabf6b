"""Two workers with the weights in one server process (multiprocessing manager). Asynchronous SGD in numpy."""

import logging
import os
import threading
import time
from multiprocessing import Process
from multiprocessing.managers import BaseManager

import numpy as np

ADDRESS = ("127.0.0.1", 30031)
SHAPES = {"w1": (120, 320), "w2": (320, 160), "w3": (160, 8)}


class Server:
    def __init__(self):
        rng = np.random.default_rng(0)
        self.weights = {k: (rng.normal(size=s) * (2 / s[0]) ** 0.5).astype("float32") for k, s in SHAPES.items()}
        self.lock = threading.Lock()
        self.pushes = 0

    def pull(self):
        with self.lock:
            return self.weights, self.pushes

    def push(self, grads, rate):
        with self.lock:
            for k, g in grads.items():
                self.weights[k] -= rate * g
            self.pushes += 1


class Manager(BaseManager):
    pass


def forward_backward(w, x, y):
    h1 = np.maximum(x @ w["w1"], 0)
    h2 = np.maximum(h1 @ w["w2"], 0)
    logits = h2 @ w["w3"]
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    loss = float(-np.log(p[np.arange(len(y)), y] + 1e-9).mean())
    p[np.arange(len(y)), y] -= 1
    p /= len(y)
    d2 = (p @ w["w3"].T) * (h2 > 0)
    d1 = (d2 @ w["w2"].T) * (h1 > 0)
    return loss, {"w1": x.T @ d1, "w2": h1.T @ d2, "w3": h2.T @ p}


def work(number, steps):
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s worker{number}[{os.getpid()}] %(message)s")
    Manager.register("server")
    manager = Manager(ADDRESS, authkey=b"weights")
    manager.connect()
    server = manager.server()
    teacher = np.random.default_rng(77).normal(size=(120, 8))
    rng = np.random.default_rng(number)
    mean = None
    for step in range(1, steps + 1):
        weights, version = server.pull()
        total, grads = 0.0, None
        for _ in range(8):
            x = rng.normal(size=(512, 120)).astype("float32")
            y = (np.tanh(x @ teacher) + 0.5 * rng.normal(size=(512, 8))).argmax(1)
            loss, g = forward_backward(weights, x, y)
            total += loss / 8
            grads = g if grads is None else {k: grads[k] + g[k] for k in g}
        server.push({k: g / 8 for k, g in grads.items()}, 0.03)
        mean = total if mean is None else 0.9 * mean + 0.1 * total
        if step % 10 == 0:
            logging.info("step %d (weights of push %d) loss %.4f", step, version, mean)


def serve():
    server = Server()
    Manager.register("server", callable=lambda: server)
    Manager(ADDRESS, authkey=b"weights").get_server().serve_forever()


if __name__ == "__main__":
    Process(target=serve, daemon=True, name="server").start()
    time.sleep(1)
    workers = [Process(target=work, args=(n, 100_000)) for n in range(2)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
