"""Discrete codes with an annealed Gumbel softmax."""
import functools
import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

K, D = 32, 48
rng = np.random.default_rng(0)
mix = rng.standard_normal((10, D)).astype(np.float32)


def init(key):
    a, b, c = jax.random.split(key, 3)
    return {"enc": jax.random.normal(a, (D, 128)) * 0.15, "log": jax.random.normal(b, (128, K)) * 0.1, "dec": jax.random.normal(c, (K, D)) * 0.2}


tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(2e-3))


@functools.partial(jax.jit, static_argnames=("temperature",))
def train_step(params, opt, key, x, temperature):
    def objective(p):
        logits = jnp.tanh(x @ p["enc"]) @ p["log"]
        g = jax.random.gumbel(key, logits.shape)
        z = jax.nn.softmax((logits + g) / temperature)
        q = jax.nn.softmax(logits)
        kl = jnp.sum(q * (jnp.log(q + 1e-9) + jnp.log(float(K))), -1).mean()
        return jnp.mean((z @ p["dec"] - x) ** 2) + 1e-3 * kl, kl
    (loss, kl), grads = jax.value_and_grad(objective, has_aux=True)(params)
    up, opt = tx.update(grads, opt, params)
    return optax.apply_updates(params, up), opt, loss, kl


params = init(jax.random.PRNGKey(0))
opt = tx.init(params)
for i in range(100000):
    t = time.perf_counter()
    x = mix[rng.integers(0, 10, 256)] + 0.3 * rng.standard_normal((256, D)).astype(np.float32)
    tau = max(0.2, 1.0 * 0.9999 ** i)
    params, opt, loss, kl = train_step(params, opt, jax.random.PRNGKey(i), x, tau)
    json.dump({"i": i, "loss": round(float(loss), 5), "kl": round(float(kl), 4), "tau": round(tau, 5), "sec": round(time.perf_counter() - t, 4)}, sys.stdout)
    print(flush=True)
