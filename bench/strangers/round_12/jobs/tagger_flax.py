"""Part-of-speech tagger; sentences are padded to three lengths."""
import json
import pickle
import time
from functools import partial
from pathlib import Path

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

BUCKETS = (16, 32, 64)


class Tagger(nn.Module):
    @nn.compact
    def __call__(self, ids):
        x = nn.Embed(3000, 96)(ids)
        x = x + nn.Embed(64, 96)(jnp.arange(ids.shape[1]))
        for _ in range(2):
            x = x + nn.SelfAttention(4)(nn.LayerNorm()(x), mask=nn.make_attention_mask(ids > 0, ids > 0))
            x = x + nn.Dense(96)(nn.gelu(nn.Dense(256)(nn.LayerNorm()(x))))
        return nn.Dense(17)(x)


def sentences(rng, size):
    ids = np.zeros((24, size), np.int32)
    for row in ids:
        n = rng.integers(max(4, size // 2), size + 1)
        row[:n] = np.minimum(rng.zipf(1.2, n), 2999)
    noise = rng.random(ids.shape) < 0.08
    tags = np.where(noise, rng.integers(0, 17, ids.shape), (ids * 7 + np.roll(ids, 1, 1)) % 17)
    return jnp.asarray(ids), jnp.asarray(tags)


model, rng = Tagger(), np.random.default_rng(0)
params = model.init(jax.random.PRNGKey(0), jnp.ones((1, 16), jnp.int32))
schedule = optax.join_schedules(
    [optax.linear_schedule(0, 1e-3, 300)] + [optax.cosine_decay_schedule(1e-3, 1500, 0.1) for _ in range(40)],
    [300 + 1500 * i for i in range(40)],
)
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))
opt = tx.init(params)


def nll(p, ids, tags):
    ce = optax.softmax_cross_entropy_with_integer_labels(model.apply(p, ids), tags)
    return (ce * (ids > 0)).sum() / (ids > 0).sum()


@partial(jax.jit, donate_argnums=(0, 1))
def step(p, s, ids, tags):
    loss, g = jax.value_and_grad(nll)(p, ids, tags)
    up, s = tx.update(g, s, p)
    return optax.apply_updates(p, up), s, loss, optax.global_norm(g)


evaluate = jax.jit(nll)
held_out = [sentences(np.random.default_rng(99), b) for b in BUCKETS for _ in range(6)]
Path("ckpt").mkdir(exist_ok=True)
t0 = time.time()
with open("metrics.jsonl", "w", buffering=1) as out:
    for n in range(1, 10**6):
        params, opt, loss, norm = step(params, opt, *sentences(rng, BUCKETS[rng.integers(3)]))
        if n % 20 == 0:
            out.write(json.dumps({"step": n, "loss": float(loss), "grad_norm": float(norm), "lr": float(schedule(n)), "wall": round(time.time() - t0, 2)}) + "\n")
        if n % 250 == 0:
            out.write(json.dumps({"step": n, "eval_loss": float(np.mean([evaluate(params, *b) for b in held_out]))}) + "\n")
            with open("ckpt/last.tmp", "wb") as f:
                pickle.dump(jax.device_get(params), f)
            Path("ckpt/last.tmp").rename("ckpt/last.pkl")
