import dataclasses
import functools
import json
import sys
import time

import jax
import jax.numpy as jnp
import optax


@dataclasses.dataclass(frozen=True)
class Hyper:
    latent: int = 16
    width: int = 256
    kl_weight: float = 0.0
    free_bits: float = 0.02


def dense(key, i, o):
    return {"w": jax.random.normal(key, (i, o)) / i**0.5, "b": jnp.zeros(o)}


def init(key, h):
    k = jax.random.split(key, 6)
    return {
        "enc": [dense(k[0], 144, h.width), dense(k[1], h.width, h.width), dense(k[2], h.width, 2 * h.latent)],
        "dec": [dense(k[3], h.latent, h.width), dense(k[4], h.width, h.width), dense(k[5], h.width, 144)],
    }


def mlp(layers, x):
    for l in layers[:-1]:
        x = jax.nn.gelu(x @ l["w"] + l["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


def elbo(params, x, key, h):
    mu, lv = jnp.split(mlp(params["enc"], x), 2, -1)
    lv = jnp.clip(lv, -8, 4)
    z = mu + jnp.exp(0.5 * lv) * jax.random.normal(key, mu.shape)
    rec = ((mlp(params["dec"], z) - x) ** 2).sum(-1).mean()
    kl = jnp.maximum(0.5 * (jnp.exp(lv) + mu**2 - 1 - lv), h.free_bits).sum(-1).mean()
    return rec + h.kl_weight * kl, (rec, kl)


opt = optax.adamw(optax.cosine_decay_schedule(2e-3, 20000))


@functools.partial(jax.jit, static_argnames="h")
def step(params, state, x, key, h):
    (loss, (rec, kl)), g = jax.value_and_grad(elbo, has_aux=True)(params, x, key, h)
    up, state = opt.update(g, state, params)
    return optax.apply_updates(params, up), state, loss, rec, kl


def spots(key, n):
    c = jax.random.uniform(key, (n, 2)) * 12
    g = jnp.arange(12.0)
    d = (g[None, :, None] - c[:, :1, None]) ** 2 + (g[None, None, :] - c[:, 1:, None]) ** 2
    return jnp.exp(-d / 4).reshape(n, 144)


key = jax.random.PRNGKey(0)
h = Hyper()
params = init(key, h)
state = opt.init(params)
t = time.time()
for i in range(20000):
    h = dataclasses.replace(h, kl_weight=min(0.5, i / 10000))
    key, a, b = jax.random.split(key, 3)
    params, state, loss, rec, kl = step(params, state, spots(a, 128), b, h)
    sys.stdout.write(json.dumps({"iter": i, "loss": round(float(loss), 4), "rec": round(float(rec), 4), "kl": round(float(kl), 3), "sec": round(time.time() - t, 3)}) + "\n")
    t = time.time()
