"""Density of the spectrometer's six channels: affine coupling layers, negative log-likelihood."""
import csv
import math

import jax
import jax.numpy as jnp
import numpy as np
import optax

D, H, LAYERS, B = 6, 128, 8, 512
mix = np.random.default_rng(2).normal(size=(2, D)) * 0.6


def channels(rng, n):
    u = rng.uniform(-2, 2, size=(n, 2))
    return (0.1 * (np.sin(2.2 * u @ mix) + 0.3 * (u**2) @ mix) + 0.02 * rng.normal(size=(n, D))).astype(np.float32)


def start(key):
    ps = []
    for k in jax.random.split(key, LAYERS):
        a, b = jax.random.split(k)
        ps.append({"a": jax.random.normal(a, (D // 2, H)) * 0.7, "ab": jnp.zeros(H), "b": jax.random.normal(b, (H, H)) / math.sqrt(H),
                   "bb": jnp.zeros(H), "c": jnp.zeros((H, D)), "cb": jnp.zeros(D)})
    return {"shift": jnp.zeros(D), "scale": jnp.full(D, 1.5), "layers": ps}


def nll(p, x):
    z = (x - p["shift"]) * jnp.exp(p["scale"])
    logdet = p["scale"].sum()
    for i, q in enumerate(p["layers"]):
        u, v = (z[:, ::2], z[:, 1::2]) if i % 2 else (z[:, 1::2], z[:, ::2])
        h = jnp.tanh(jnp.tanh(u @ q["a"] + q["ab"]) @ q["b"] + q["bb"])
        s, t = jnp.split(h @ q["c"] + q["cb"], 2, axis=1)
        s = 1.5 * jnp.tanh(s / 1.5)
        v = v * jnp.exp(s) + t
        z = jnp.concatenate([u, v], 1)
        logdet = logdet + s.sum(1)
    return jnp.mean(0.5 * (z**2).sum(1) + 0.5 * D * math.log(2 * math.pi) - logdet)


tx = optax.chain(optax.clip_by_global_norm(50.0), optax.adam(optax.warmup_cosine_decay_schedule(0, 5e-4, 400, 60_000)))


@jax.jit
def update(p, s, x):
    v, g = jax.value_and_grad(nll)(p, x)
    d, s = tx.update(g, s, p)
    return optax.apply_updates(p, d), s, v, optax.global_norm(g)


check = jax.jit(nll)
rng = np.random.default_rng(4)
held = channels(np.random.default_rng(99), 8192)
p = start(jax.random.key(0))
s = tx.init(p)
out = csv.writer(open("curve.csv", "w", newline="", buffering=1))
out.writerow(["step", "train_nll", "held_nll", "gnorm"])
print(f"{'step':>7} {'train_nll':>11} {'held_nll':>11} {'gnorm':>9}", flush=True)
acc = []
for n in range(1, 60_001):
    p, s, v, g = update(p, s, channels(rng, B))
    acc.append(v)
    if n % 50 == 0:
        row = [n, float(np.mean(acc)), float(check(p, held)) if n % 500 == 0 else float("nan"), float(g)]
        acc.clear()
        out.writerow(row)
        print(f"{row[0]:7d} {row[1]:11.4f} {row[2]:11.4f} {row[3]:9.3f}", flush=True)
