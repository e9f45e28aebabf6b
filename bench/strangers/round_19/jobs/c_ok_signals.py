"""Green phase lengths from queue pictures, JAX. Cosine with restarts, weights and replay written every 4000 steps."""
import math
import time

import jax
import jax.numpy as jnp
import numpy as np

PERIOD = 600


def rate(step):
    return 1e-4 + 0.5 * (3e-3 - 1e-4) * (1 + math.cos(math.pi * (step % PERIOD) / PERIOD))


def init(key, sizes):
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(k, (a, b)) * (1 / a) ** 0.5, jnp.zeros(b)) for k, a, b in zip(keys, sizes, sizes[1:])]


def forward(params, x):
    for w, b in params[:-1]:
        x = jax.nn.gelu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


@jax.jit
def update(params, moments, x, y, lr):
    loss, grads = jax.value_and_grad(lambda p: ((forward(p, x) - y) ** 2).mean())(params)
    moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, grads)
    norm = jnp.sqrt(sum((g ** 2).sum() for g in jax.tree.leaves(grads)))
    return jax.tree.map(lambda p, m: p - lr * m, params, moments), moments, loss, norm


params = init(jax.random.key(1), [200, 384, 384, 8])
moments = jax.tree.map(jnp.zeros_like, params)
rng = np.random.default_rng(1)
mix = rng.normal(size=(200, 8)).astype("f4") / 14
replay = rng.normal(size=(20_000, 200)).astype("f4")
t0 = time.time()
for step in range(1, 200_000):
    x = replay[rng.integers(0, len(replay), 384)]
    y = np.tanh(x @ mix) + rng.normal(scale=0.3, size=(384, 8)).astype("f4")
    params, moments, loss, norm = update(params, moments, x, y, rate(step))
    if step % 20 == 0:
        print(f"{time.time() - t0:8.2f} step={step} lr={rate(step):.2e} mse={float(loss):.4f} gnorm={float(norm):.3f}", flush=True)
    if step % 4000 == 0:
        t = time.time()
        np.savez_compressed("snapshot.npz", replay=replay, *[np.asarray(p) for p in jax.tree.leaves(params)])
        print(f"snapshot written in {time.time() - t:.1f} s", flush=True)
