"""Glucose forecasting with a small GRU in JAX."""
import math
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

HID, T = 48, 64


def init(key):
    ks = jax.random.split(key, 3)
    g = lambda k, *s: jax.random.normal(k, s) / math.sqrt(s[0])
    return {"wx": g(ks[0], 1, 3 * HID), "wh": g(ks[1], HID, 3 * HID), "b": jnp.zeros(3 * HID), "wo": g(ks[2], HID, 1)}


def cell(p, h, x):
    gx, gh = x @ p["wx"] + p["b"], h @ p["wh"]
    r, u = jnp.split(jax.nn.sigmoid(gx[:, :2 * HID] + gh[:, :2 * HID]), 2, axis=1)
    c = jnp.tanh(gx[:, 2 * HID:] + r * gh[:, 2 * HID:])
    h = u * h + (1 - u) * c
    return h, h @ p["wo"]


def loss_fn(p, x):
    h0 = jnp.zeros((x.shape[0], HID))
    _, y = lax.scan(lambda h, v: cell(p, h, v), h0, x[:, :-1].transpose(1, 0, 2))
    return jnp.mean((y.transpose(1, 0, 2) - x[:, 1:]) ** 2)


@partial(jax.jit, static_argnames=("lr", "decay"))
def update(p, m, v, x, lr, decay=1e-4):
    loss, g = jax.value_and_grad(loss_fn)(p, x)
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
    v = jax.tree.map(lambda a, b: 0.99 * a + 0.01 * b * b, v, g)
    p = jax.tree.map(lambda w, a, b: w - lr * (a / (jnp.sqrt(b) + 1e-6) + decay * w), p, m, v)
    return p, m, v, loss


def schedule(step, total=3000, peak=4e-3, warm=20):
    if step < warm:
        return peak * (step + 1) / warm
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warm) / (total - warm)))


def series(rng, n):
    t = np.arange(T)[None] + rng.uniform(0, 50, (n, 1))
    x = np.sin(t / rng.uniform(3, 6, (n, 1))) + 0.3 * np.sin(t / 1.7) + rng.normal(0, 0.05, (n, T))
    return x[..., None].astype(np.float32)


rng = np.random.default_rng(0)
p = init(jax.random.PRNGKey(0))
m = jax.tree.map(jnp.zeros_like, p)
v = jax.tree.map(jnp.zeros_like, p)
tic = time.perf_counter()
for step in range(3000):
    p, m, v, loss = update(p, m, v, series(rng, 128), lr=schedule(step))
    print(f"{step + 1}/3000 mse={float(loss):.5f} lr={schedule(step):.2e} {(time.perf_counter() - tic) * 1e3:.0f} ms/step", flush=True)
    tic = time.perf_counter()
