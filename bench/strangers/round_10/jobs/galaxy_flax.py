import json
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Morph(nn.Module):
    @nn.compact
    def __call__(self, x):
        for ch in (16, 32):
            x = nn.relu(nn.Conv(ch, (3, 3), strides=2)(x))
        x = x.reshape(x.shape[0], -1)
        x = nn.relu(nn.Dense(128)(x))
        return nn.Dense(6)(x)


def probabilities(logits):
    e = jnp.exp(logits)
    return e / e.sum(-1, keepdims=True)


model = Morph()
params = model.init(jax.random.PRNGKey(0), jnp.zeros((1, 48, 48, 1)))
schedule = optax.linear_schedule(1e-4, 0.5, 900)
tx = optax.sgd(schedule, momentum=0.9)
state = tx.init(params)


@jax.jit
def train_step(params, state, x, y):
    def f(p):
        pr = probabilities(model.apply(p, x) * 10.0)
        return -jnp.log(pr[jnp.arange(len(y)), y]).mean(), pr

    (loss, pr), g = jax.value_and_grad(f, has_aux=True)(params)
    up, state = tx.update(g, state, params)
    return optax.apply_updates(params, up), state, loss, (pr.argmax(-1) == y).mean(), optax.global_norm(g)


rng = np.random.default_rng(3)
yy, xx = np.mgrid[-1:1:48j, -1:1:48j]


def images(n=128):
    y = rng.integers(0, 6, n)
    th = (y * np.pi / 6)[:, None, None]
    u, v = xx * np.cos(th) + yy * np.sin(th), -xx * np.sin(th) + yy * np.cos(th)
    im = np.exp(-(u**2) * 4 - v**2 * 25) + rng.normal(0, 0.25, (n, 48, 48))
    y = np.where(rng.random(n) < 0.1, rng.integers(0, 6, n), y)
    return (im * 3).astype(np.float32)[..., None], y


with open("metrics.jsonl", "a", buffering=1) as out:
    for it in range(1, 1_000_000):
        x, y = images()
        params, state, loss, acc, gn = train_step(params, state, x, y)
        if it % 10 == 0:
            rec = {"t": round(time.time(), 2), "iter": it, "loss": float(loss), "acc": float(acc), "grad_norm": float(gn), "lr": float(schedule(it))}
            out.write(json.dumps(rec) + "\n")
