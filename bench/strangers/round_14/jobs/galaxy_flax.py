import csv
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn


class AE(nn.Module):
    @nn.compact
    def __call__(self, x):
        h = nn.relu(nn.Dense(512)(x))
        z = nn.Dense(12)(h)
        return nn.Dense(x.shape[-1])(nn.relu(nn.Dense(512)(z)))


rng = np.random.default_rng(2)
basis = rng.normal(size=(12, 400)) * np.exp(-np.arange(12) / 5)[:, None]
model = AE()
params = model.init(jax.random.key(0), jnp.zeros((1, 400)))
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.warmup_cosine_decay_schedule(0, 1e-4, 500, 300000)))
opt = tx.init(params)


@jax.jit
def update(params, opt, x):
    loss, g = jax.value_and_grad(lambda p: jnp.mean((model.apply(p, x) - x) ** 2))(params)
    u, opt = tx.update(g, opt, params)
    return optax.apply_updates(params, u), opt, loss


@jax.jit
def score(params, x):
    return jnp.mean((model.apply(params, x) - x) ** 2)


def spectra(n):
    c = rng.normal(size=(n, 12))
    return (np.tanh(c @ basis / 2) + 0.2 * rng.normal(size=(n, 400))).astype("float32")


test, train = spectra(4096), spectra(40000)
with open("progress.csv", "w", newline="", buffering=1) as f:
    w = csv.writer(f)
    w.writerow(["step", "train_mse", "test_mse", "steps_per_s"])
    t = time.perf_counter()
    for step in range(1, 300001):
        params, opt, loss = update(params, opt, train[rng.integers(0, len(train), 256)])
        if step % 100 == 0:
            now = time.perf_counter()
            te = f"{float(score(params, test)):.5f}" if step % 500 == 0 else ""
            w.writerow([step, f"{float(loss):.5f}", te, f"{100 / (now - t):.1f}"])
            t = now
        if step % 1000 == 0:
            np.savez("params.npz", *jax.tree.leaves(params))
