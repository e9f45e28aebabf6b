"""Seq-to-seq addition in jax: lengths are bucketed, all buckets are compiled before the run."""
import json
import time
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import optax

BUCKETS = (8, 12, 16, 24)
V, D, B = 14, 128, 64


def init(key):
    a, b, c, d = jax.random.split(key, 4)
    return {
        "e": jax.random.normal(a, (V, D)) * 0.1,
        "w": jax.random.normal(b, (2 * D, 3 * D)) * 0.06,
        "b": jnp.zeros(3 * D),
        "o": jax.random.normal(c, (D, V)) * 0.1,
    }


def loss_fn(p, x):
    def cell(h, t):
        z = jnp.concatenate([h, p["e"][t]], -1) @ p["w"] + p["b"]
        r, u, n = jnp.split(z, 3, -1)
        u = jax.nn.sigmoid(u)
        h = (1 - u) * h + u * jnp.tanh(n * jax.nn.sigmoid(r))
        return h, h @ p["o"]

    _, logits = jax.lax.scan(cell, jnp.zeros((x.shape[0], D)), x[:, :-1].T)
    return optax.softmax_cross_entropy_with_integer_labels(logits, x[:, 1:].T).mean()


tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 1e-3, 300, 200_000, 1e-4)))


@jax.jit
def train_step(p, s, x):
    loss, g = jax.value_and_grad(loss_fn)(p, x)
    up, s = tx.update(g, s, p)
    return optax.apply_updates(p, up), s, loss, optax.global_norm(g)


eval_step = jax.jit(loss_fn)


def make(rng, width):
    digits = (width - 3) // 3
    rows = np.full((B, width), 13)
    for i in range(B):
        a, b = rng.integers(0, 10**digits, 2)
        text = f"{a}+{b}={a + b}"[:width]
        rows[i, : len(text)] = ["0123456789+=".index(c) for c in text]
    return jnp.asarray(rows)


def emit(**row):
    print(json.dumps({"time": round(time.time(), 3), **row}))


def main():
    warnings.warn("params are kept in float32")
    rng = np.random.default_rng(0)
    p = init(jax.random.PRNGKey(0))
    s = tx.init(p)
    for width in BUCKETS:
        train_step(p, s, make(rng, width))
        eval_step(p, make(rng, width)).block_until_ready()
        emit(event="compiled", width=width)
    held = [make(np.random.default_rng(100 + i), w) for i, w in enumerate(BUCKETS * 10)]
    last = time.perf_counter()
    for step in range(1, 400_000):
        p, s, loss, norm = train_step(p, s, make(rng, int(rng.choice(BUCKETS))))
        if step % 50 == 0:
            now = time.perf_counter()
            emit(event="train", step=step, loss=round(float(loss), 4), grad_norm=round(float(norm), 4), steps_per_sec=round(50 / (now - last), 2))
            last = now
        if step % 500 == 0:
            emit(event="eval", step=step, loss=round(float(np.mean([eval_step(p, x) for x in held])), 4))
            np.savez("params.npz", **{k: np.asarray(v) for k, v in p.items()})
            last = time.perf_counter()


main()
