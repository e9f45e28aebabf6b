"""A deep transformer in plain JAX with unrolled layers: the first step compiles for long, then all is quick."""

import functools
import json
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

LAYERS, WIDTH, HEADS, VOCAB, LENGTH = 18, 64, 4, 256, 48


def init(key):
    def dense(key, a, b):
        return jax.random.normal(key, (a, b)) * (0.5 / a**0.5)

    keys = iter(jax.random.split(key, 4 * LAYERS + 2))
    layers = [
        {
            "qkv": dense(next(keys), WIDTH, 3 * WIDTH),
            "out": dense(next(keys), WIDTH, WIDTH),
            "up": dense(next(keys), WIDTH, 2 * WIDTH),
            "down": dense(next(keys), 2 * WIDTH, WIDTH),
        }
        for _ in range(LAYERS)
    ]
    return {"tok": dense(next(keys), VOCAB, WIDTH), "pos": dense(next(keys), LENGTH, WIDTH), "layers": layers}


def norm(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def block(p, x):
    b, t, _ = x.shape
    q, k, v = (a.reshape(b, t, HEADS, -1).transpose(0, 2, 1, 3) for a in jnp.split(norm(x) @ p["qkv"], 3, -1))
    scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), q @ k.transpose(0, 1, 3, 2) / q.shape[-1] ** 0.5, -1e9)
    mixed = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(b, t, WIDTH)
    x = x + mixed @ p["out"]
    return x + jax.nn.gelu(norm(x) @ p["up"]) @ p["down"]


def loss_fn(params, ids):
    x = params["tok"][ids[:, :-1]] + params["pos"]
    for p in params["layers"]:
        x = block(p, x)
    logits = norm(x) @ params["tok"].T
    return optax.softmax_cross_entropy_with_integer_labels(logits, ids[:, 1:]).mean()


def text(rng, n=6):
    ids = np.zeros((n, LENGTH + 1), np.int32)
    ids[:, 0] = rng.integers(0, VOCAB, n)
    for t in range(LENGTH):
        ids[:, t + 1] = (5 * ids[:, t] + rng.choice([1, 2, 7, 30], n)) % VOCAB
    return ids


def main():
    rng = np.random.default_rng(0)
    params = init(jax.random.key(0))
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.linear_schedule(0.0, 2e-3, 30)))
    state = tx.init(params)

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(params, state, ids):
        loss, grads = jax.value_and_grad(loss_fn)(params, ids)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    print(json.dumps({"event": "start", "layers": LAYERS, "devices": [str(d) for d in jax.devices()]}), flush=True)
    for n in range(1, 1_000_000):
        began = time.perf_counter()
        params, state, loss = step(params, state, text(rng))
        loss = float(loss)
        if n == 1 or n % 10 == 0:
            print(json.dumps({"step": n, "loss": round(loss, 4), "ms": round(1000 * (time.perf_counter() - began))}), flush=True)


if __name__ == "__main__":
    main()
