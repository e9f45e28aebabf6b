"""Federated fraud model: a coordinator and two banks over TCP."""
import pickle
import socket
import struct
import subprocess
import sys
import time

import numpy as np

PORT, BANKS, D = 36230, 2, 80


def send(s, obj):
    raw = pickle.dumps(obj, protocol=5)
    s.sendall(struct.pack("!Q", len(raw)) + raw)


def recv(s):
    def exactly(n):
        parts = b""
        while len(parts) < n:
            got = s.recv(min(1 << 20, n - len(parts)))
            if not got:
                raise ConnectionError("peer has gone")
            parts += got
        return parts
    return pickle.loads(exactly(struct.unpack("!Q", exactly(8))[0]))


def forward(w, x):
    h = np.maximum(x @ w["a"] + w["b"], 0)
    return h, 1 / (1 + np.exp(-(h @ w["c"] + w["d"])))


def bank(k):
    rng = np.random.default_rng(k)
    truth = np.random.default_rng(99).normal(size=(D, 12)) / 4
    x = rng.normal(size=(24_000, D)).astype(np.float32) + 0.3 * k
    score = np.tanh(x @ truth).sum(1)
    y = (score + rng.normal(size=len(x)) > (2.5 if k else 2.0)).astype(np.float32)
    s = socket.create_connection(("127.0.0.1", PORT))
    send(s, k)
    while True:
        w = recv(s)
        t0, losses = time.time(), []
        for i in range(0, 12_000, 100):
            idx = rng.integers(0, len(x), 100)
            xb, yb = x[idx], y[idx]
            h, p = forward(w, xb)
            losses.append(-np.mean(yb * np.log(p + 1e-7) + (1 - yb) * np.log(1 - p + 1e-7)))
            g = ((p - yb) / len(yb)).astype(np.float32)
            gh = np.outer(g, w["c"]) * (h > 0)
            lr = 0.02
            w["c"] -= lr * h.T @ g
            w["d"] -= lr * g.sum()
            w["a"] -= lr * xb.T @ gh
            w["b"] -= lr * gh.sum(0)
        send(s, (w, float(np.mean(losses)), time.time() - t0))


def coordinator():
    rng = np.random.default_rng(0)
    w = {"a": (rng.normal(size=(D, 1024)) * 0.1).astype(np.float32), "b": np.zeros(1024, np.float32),
         "c": (rng.normal(size=1024) * 0.03).astype(np.float32), "d": np.float32(0)}
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", PORT))
    server.listen()
    procs = [subprocess.Popen([sys.executable, __file__, "bank", str(k)]) for k in range(BANKS)]
    links = {}
    for _ in procs:
        s, _ = server.accept()
        links[recv(s)] = s
    for rnd in range(1, 10_000):
        t0 = time.time()
        for s in links.values():
            send(s, w)
        answers = {k: recv(s) for k, s in links.items()}
        w = {n: sum(a[0][n] for a in answers.values()) / BANKS for n in w}
        print(f"round={rnd} loss={np.mean([a[1] for a in answers.values()]):.4f} " + " ".join(f"bank{k}={a[1]:.4f}/{a[2]:.2f}s" for k, a in sorted(answers.items()))
              + f" round_time={time.time() - t0:.2f}s", flush=True)


if __name__ == "__main__":
    bank(int(sys.argv[2])) if len(sys.argv) > 1 else coordinator()
