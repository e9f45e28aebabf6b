import csv
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

BUCKETS = (16, 32, 48)


class Tagger(nn.Module):
    @nn.compact
    def __call__(self, x, mask):
        h = nn.Embed(200, 48)(x)
        for _ in range(3):
            c = nn.Conv(48, (5,))(h * mask[..., None])
            h = nn.LayerNorm()(h + nn.gelu(c))
        return nn.Dense(12)(h)


def sample(rng, table):
    size = rng.choice(BUCKETS, p=(0.5, 0.3, 0.2))
    n = rng.integers(size - 15, size + 1, 24)
    x = rng.integers(1, 200, (24, size))
    y = (table[x] + np.roll(table[x], 1, 1) + (rng.random(x.shape) < 0.05)) % 12
    mask = np.arange(size)[None] < n[:, None]
    return x, y, mask.astype("f4")


net = Tagger()
rng = np.random.default_rng(0)
table = rng.integers(0, 12, 200)
x, y, m = sample(rng, table)
params = jax.jit(net.init)(jax.random.PRNGKey(0), x, m)


def lr(i):
    c = i % 1500
    return 2e-3 * jnp.where(c < 50, (c + 1) / 50, 0.01 + 0.99 * 0.5 * (1 + jnp.cos(jnp.pi * (c - 50) / 1450)))


tx = optax.adamw(lr)
state = tx.init(params)


@jax.jit
def step(params, state, x, y, m):
    def f(p):
        ce = optax.softmax_cross_entropy_with_integer_labels(net.apply(p, x, m), y)
        return (ce * m).sum() / m.sum()
    loss, g = jax.value_and_grad(f)(params)
    u, state = tx.update(g, state, params)
    return optax.apply_updates(params, u), state, loss, optax.global_norm(g)


out = csv.writer(sys.stdout)
out.writerow(["step", "bucket", "loss", "grad_norm", "lr", "wall"])
t = time.time()
for i in range(1, 10**6):
    x, y, m = sample(rng, table)
    params, state, loss, gn = step(params, state, x, y, m)
    if i % 40 == 0:
        out.writerow([i, x.shape[1], f"{float(loss):.4f}", f"{float(gn):.3f}", f"{float(lr(i)):.2e}", f"{time.time() - t:.1f}"])
