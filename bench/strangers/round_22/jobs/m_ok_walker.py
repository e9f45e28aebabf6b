"""Evolution strategies for a swing-up pole over plain sockets.

main: python m_ok_walker.py           starts a helper and trains
"""
import json
import os
import pickle
import socket
import struct
import subprocess
import sys
import time

import numpy as np

ADDR = ("127.0.0.1", 23177)
SHAPES = [(5, 24), (24,), (24, 1), (1,)]
DIM = sum(int(np.prod(s)) for s in SHAPES)


def send(s, obj):
    raw = pickle.dumps(obj)
    s.sendall(struct.pack("!I", len(raw)) + raw)


def recv(s):
    def exactly(n):
        buf = b""
        while len(buf) < n:
            part = s.recv(n - len(buf))
            if not part:
                raise SystemExit(0)
            buf += part
        return buf
    return pickle.loads(exactly(struct.unpack("!I", exactly(4))[0]))


def unpack(thetas):
    out, at = [], 0
    for s in SHAPES:
        n = int(np.prod(s))
        out.append(thetas[:, at:at + n].reshape(-1, *s))
        at += n
    return out


def rollout(thetas, seed, horizon=300):
    w1, b1, w2, b2 = unpack(thetas)
    rng = np.random.default_rng(seed)
    n = len(thetas)
    start = rng.normal(0, .15, 4)
    x, v, th, om = (np.full(n, s) for s in start)
    th = th + np.pi
    total = np.zeros(n)
    for _ in range(horizon):
        obs = np.stack([x, v, np.cos(th), np.sin(th), om / 5], 1)
        h = np.tanh(np.einsum("ni,nij->nj", obs, w1) + b1)
        f = 10 * np.tanh(np.einsum("nj,njk->nk", h, w2) + b2)[:, 0]
        tmp = (f + .05 * om ** 2 * np.sin(th)) / 1.1
        acc_th = (9.8 * np.sin(th) - np.cos(th) * tmp) / (.5 * (4 / 3 - .1 * np.cos(th) ** 2 / 1.1))
        acc = tmp - .05 * acc_th * np.cos(th) / 1.1
        v, om = v + .02 * acc, np.clip(om + .02 * acc_th, -15, 15)
        x, th = x + .02 * v, th + .02 * om
        total += (1 + np.cos(th)) / 2 - .02 * np.minimum(x ** 2, 25)
    return total / horizon


def evaluate(theta, noise_seed, seed, n, sigma):
    eps = np.random.default_rng(noise_seed).normal(size=(n, DIM))
    both = np.concatenate([theta + sigma * eps, theta - sigma * eps])
    r = np.mean([rollout(both, seed + k) for k in range(2)], 0)
    return r[:n], r[n:]


def helper():
    s = socket.create_connection(ADDR)
    while True:
        send(s, evaluate(*recv(s)))


def main():
    srv = socket.create_server(ADDR)
    subprocess.Popen([sys.executable, os.path.abspath(__file__), "helper"])
    peer, _ = srv.accept()
    theta, n, sigma, lr = np.random.default_rng(0).normal(0, .3, DIM), 120, .12, .08
    m, s2 = np.zeros(DIM), np.zeros(DIM)
    for gen in range(1, 100000):
        jobs = [(theta, 2 * gen + k, 1000 * gen, n, sigma) for k in range(2)]
        send(peer, jobs[1])
        res = [evaluate(*jobs[0]), recv(peer)]
        eps = np.concatenate([np.random.default_rng(j[1]).normal(size=(n, DIM)) for j in jobs])
        up, down = (np.concatenate(z) for z in zip(*res))
        rank = np.concatenate([up, down]).argsort().argsort() / (4 * n - 1) - .5
        g = ((rank[:2 * n] - rank[2 * n:]) @ eps) / (2 * n * sigma) - .002 * theta
        m = .9 * m + .1 * g
        s2 = .99 * s2 + .01 * g ** 2
        theta = theta + lr * (m / (1 - .9 ** gen)) / (np.sqrt(s2 / (1 - .99 ** gen)) + 1e-8)
        if gen % 4 == 0:
            print(json.dumps({"t": round(time.time(), 1), "gen": gen, "fitness": {"mean": round(float(up.mean()), 4), "max": round(float(up.max()), 4), "min": round(float(up.min()), 4)}}), flush=True)
        if gen % 20 == 0:
            np.save("theta.npy", theta)


helper() if sys.argv[1:] == ["helper"] else main()
