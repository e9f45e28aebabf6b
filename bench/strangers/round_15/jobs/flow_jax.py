import lzma
import os
import pickle
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

SIZES = (32, 640, 640, 640, 32)


def init(key):
    ks = jax.random.split(key, len(SIZES))
    return {f"dense_{i}": {"w": jax.random.normal(k, (a, b)) * (a ** -0.5), "b": jnp.zeros((b,))} for i, (k, a, b) in enumerate(zip(ks, SIZES, SIZES[1:]))}


def net(p, x):
    for i in range(len(SIZES) - 1):
        x = x @ p[f"dense_{i}"]["w"] + p[f"dense_{i}"]["b"]
        x = jax.nn.gelu(x) if i < len(SIZES) - 2 else x
    return x


tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(optax.warmup_cosine_decay_schedule(0, 1e-3, 200, 200_000)))


@jax.jit
def step(p, s, key):
    kx, kn, kt = jax.random.split(key, 3)
    x = jnp.sin(jax.random.normal(kx, (768, 1)) * jnp.arange(1, 33) / 4)
    n = jax.random.normal(kn, x.shape)
    t = jax.random.uniform(kt, (768, 1))
    loss, g = jax.value_and_grad(lambda q: jnp.mean((net(q, (1 - t) * n + t * x) - (x - n)) ** 2))(p)
    u, s = tx.update(g, s, p)
    return optax.apply_updates(p, u), s, loss


def save(path, p, s):
    raw = pickle.dumps(jax.tree_util.tree_map(np.asarray, (p, s)))
    with open(path + ".part", "wb") as f:
        f.write(lzma.compress(raw, preset=6))
        f.flush()
        os.fsync(f.fileno())
    os.replace(path + ".part", path)


key = jax.random.PRNGKey(0)
p = init(key)
s = tx.init(p)
for i in range(1, 200_001):
    key, sub = jax.random.split(key)
    p, s, loss = step(p, s, sub)
    if i % 10 == 0:
        print(f"{time.strftime('%H:%M:%S')} iter={i} loss={float(loss):.4f}", flush=True)
    if i % 50 == 0:
        save("latest.ckpt.xz", p, s)
        print(f"{time.strftime('%H:%M:%S')} checkpoint latest.ckpt.xz written ({os.path.getsize('latest.ckpt.xz') / 1e6:.1f} MB)", flush=True)
