import os
import pickle
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

OUT = sys.argv[1]
GRIDS = [(16, 32), (24, 48), (32, 64)]


def init(key, ch=32):
    k = jax.random.split(key, 3)
    w = lambda k, i, o: jax.random.normal(k, (3, 3, i, o)) * (2 / (9 * i)) ** 0.5
    return [w(k[0], 4, ch), w(k[1], ch, ch), w(k[2], ch, 4) * 0.1]


def forward(p, x):
    h = x
    for i, w in enumerate(p):
        h = jax.lax.conv_general_dilated(h, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        h = jax.nn.silu(h) if i < 2 else h
    return x + h


def fields(g, grid, n=16):
    h, w = grid
    ph = g.uniform(0, 6.28, (n, 1, 1, 4))
    k = g.integers(1, 4, (n, 1, 1, 4))
    lon = np.linspace(0, 6.28, w)[None, None, :, None]
    lat = np.linspace(0, 3.14, h)[None, :, None, None]
    f = lambda dt: np.sin(k * (lon + dt) + ph) * np.sin(lat)
    noise = lambda: g.normal(0, 0.05, (n, h, w, 4))
    return (f(0) + noise()).astype("f4"), (f(0.2) + noise()).astype("f4")


if __name__ == "__main__":
    p = init(jax.random.PRNGKey(0))
    tx = optax.adam(optax.warmup_cosine_decay_schedule(0, 2e-3, 300, 60000, 1e-5))
    st = tx.init(p)

    @jax.jit
    def step(p, st, x, y):
        l, g = jax.value_and_grad(lambda p: jnp.mean((forward(p, x) - y) ** 2))(p)
        up, st = tx.update(g, st, p)
        return optax.apply_updates(p, up), st, l

    g = np.random.default_rng(0)
    for grid in GRIDS:
        t = time.time()
        step(p, st, *fields(g, grid))[2].block_until_ready()
        print(f"compiled for {grid[0]}x{grid[1]} in {time.time() - t:.1f}s")
    hist, t0 = [], time.time()
    for i in range(1, 60001):
        p, st, l = step(p, st, *fields(g, GRIDS[g.integers(3)]))
        hist.append(float(l))
        if i % 100 == 0:
            print(f"i={i} mse={np.mean(hist[-100:]):.5f} {100 / (time.time() - t0):.1f} it/s")
            t0 = time.time()
        if i % 500 == 0:
            tmp = f"{OUT}/.tmp"
            with open(tmp, "wb") as f:
                pickle.dump([np.asarray(w) for w in p], f)
            os.rename(tmp, f"{OUT}/{i:06d}.pkl")
