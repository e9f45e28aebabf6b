"""Skip-gram with negative sampling, plain NumPy, several Hogwild threads that lock blocks of rows."""
import os
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import sys
import threading
import time

import numpy as np

VOCAB, DIM, BLOCKS = 4000, 64, 8
ORDERED = "--ordered" in sys.argv
rng = np.random.default_rng(0)
emb = rng.normal(0, 0.1, (VOCAB, DIM)).astype(np.float32)
ctx = np.zeros((VOCAB, DIM), np.float32)
locks = [threading.Lock() for _ in range(BLOCKS)]
done = [0, 0]
loss_avg = [0.69]


def block(word):
    return word * BLOCKS // VOCAB


def pairs(r):
    c = r.integers(0, VOCAB, 256)
    return c, (c * 17 + r.integers(0, 20, 256)) % VOCAB


def update(r, first, second, centres, contexts):
    with locks[first]:
        time.sleep(0.0002)  # read the rows of the block from the memory map
        with locks[second]:
            neg = r.integers(0, VOCAB, (len(centres), 5))
            v = emb[centres]
            t = np.concatenate([contexts[:, None], neg], 1)
            u = ctx[t]
            z = np.einsum("nd,nkd->nk", v, u)
            y = np.zeros_like(z)
            y[:, 0] = 1
            p = 1 / (1 + np.exp(-z))
            g = (p - y) * 0.05
            np.add.at(ctx, t, -g[..., None] * v[:, None])
            np.add.at(emb, centres, -np.einsum("nk,nkd->nd", g, u))
            loss_avg[0] = 0.99 * loss_avg[0] + 0.01 * float(-np.log(np.where(y > 0, p, 1 - p) + 1e-7).mean())


def run(k):
    r = np.random.default_rng(k)
    while True:
        c, o = pairs(r)
        a, b = block(int(c[0])), block(int(o[0]))
        if a == b:
            b = (a + 1) % BLOCKS
        if ORDERED:
            a, b = min(a, b), max(a, b)
        elif time.time() - born < 15:
            a, b = min(a, b), max(a, b)
        update(r, a, b, c, o)
        done[k] += 256
        if k == 0 and done[0] % 12800 == 0:
            print("%.1fM pairs  loss %.4f" % (sum(done) / 1e6, loss_avg[0]), flush=True)


born = time.time()
second = threading.Thread(target=run, args=(1,), name="hogwild-1")
second.start()
run(0)
