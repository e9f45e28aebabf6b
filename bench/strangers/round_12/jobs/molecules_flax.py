"""Property of molecules from SMILES-like strings, flax + optax. Batches come in 4 bucket lengths."""
import json
import os
import time

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

BUCKETS = (16, 32, 48, 64)


class Net(nn.Module):
    @nn.compact
    def __call__(self, tok):
        mask = (tok > 0)[..., None]
        x = nn.Embed(64, 64)(tok)
        for width in (3, 5):
            x = x + nn.relu(nn.Conv(64, (width,))(nn.LayerNorm()(x)))
        x = (x * mask).sum(1) / jnp.maximum(mask.sum(1), 1)
        return nn.Dense(1)(nn.relu(nn.Dense(64)(x)))[:, 0]


rng = np.random.default_rng(0)
weights = rng.normal(size=64)


def batch(n=48):
    length = BUCKETS[rng.integers(4)]
    tok = rng.integers(1, 64, (n, length))
    keep = rng.integers(length // 2 + 1, length + 1, (n, 1))
    tok = np.where(np.arange(length) < keep, tok, 0)
    y = np.array([weights[t[t > 0]].mean() * 5 for t in tok]) + rng.normal(size=n) * 0.2
    return jnp.asarray(tok), jnp.asarray(y)


net = Net()
params = net.init(jax.random.PRNGKey(1), jnp.ones((1, 16), jnp.int32))
sched = optax.warmup_cosine_decay_schedule(0.0, 2e-3, 300, 30000)
opt = optax.adamw(sched)
state = opt.init(params)


@jax.jit
def train_step(params, state, tok, y):
    loss, g = jax.value_and_grad(lambda p: jnp.mean((net.apply(p, tok) - y) ** 2))(params)
    up, state = opt.update(g, state, params)
    return optax.apply_updates(params, up), state, loss, optax.global_norm(g)


os.makedirs("run", exist_ok=True)
out = open("run/metrics.jsonl", "w", buffering=1)
start = time.time()
for step in range(10**7):
    tok, y = batch()
    params, state, loss, norm = train_step(params, state, tok, y)
    if step % 10 == 0:
        out.write(json.dumps({"step": step, "mse": float(loss), "grad_norm": float(norm), "lr": float(sched(step)), "bucket": tok.shape[1], "elapsed": round(time.time() - start, 2)}) + "\n")
    if step % 500 == 499:
        flat, _ = jax.flatten_util.ravel_pytree(params)
        np.save("run/params.tmp.npy", np.asarray(flat))
        os.replace("run/params.tmp.npy", "run/params.npy")
        out.write(json.dumps({"step": step, "event": "saved", "file": "run/params.npy"}) + "\n")
