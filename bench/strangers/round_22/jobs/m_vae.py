from functools import partial
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax


def dense(key, i, o):
    return {"w": jax.random.normal(key, (i, o)) * (2 / i) ** 0.5, "b": jnp.zeros(o)}


def init(key, sizes):
    return [dense(k, a, b) for k, a, b in zip(jax.random.split(key, len(sizes)), sizes, sizes[1:])]


def mlp(layers, x):
    for l in layers[:-1]:
        x = jax.nn.gelu(x @ l["w"] + l["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


tx = optax.adam(1e-3)


@partial(jax.jit, static_argnames=("beta",))
def update(params, opt_state, x, key, beta):
    def objective(p):
        mu, logvar = jnp.split(mlp(p["enc"], x), 2, axis=-1)
        z = mu + jnp.exp(logvar / 2) * jax.random.normal(key, mu.shape)
        rec = jnp.mean(jnp.sum((mlp(p["dec"], z) - x) ** 2, -1))
        kl = -0.5 * jnp.mean(jnp.sum(1 + logvar - mu ** 2 - jnp.exp(logvar), -1))
        if beta == 0.0:
            return rec, (rec, kl)
        return rec + beta * kl, (rec, kl)

    (loss, aux), grads = jax.value_and_grad(objective, has_aux=True)(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss, aux


def spectra(rng, n, bins=256):
    wl = np.linspace(0, 1, bins)
    c = rng.uniform(.1, .9, (n, 3, 1))
    a = rng.gamma(2., .5, (n, 3, 1))
    w = rng.uniform(.01, .05, (n, 3, 1))
    return (a * np.exp(-((wl - c) / w) ** 2)).sum(1) + rng.normal(0, .05, (n, bins))


def kl_weight(step, warmup=6000):
    return round(min(1.0, step / warmup), 6)


def main():
    rng = np.random.default_rng(0)
    key = jax.random.PRNGKey(0)
    params = {"enc": init(key, [256, 128, 32]), "dec": init(key, [16, 128, 256])}
    opt_state = tx.init(params)
    data = spectra(rng, 20000).astype("f4")
    t = time.time()
    for step in range(1, 20001):
        key, sub = jax.random.split(key)
        x = data[rng.integers(0, len(data), 128)]
        params, opt_state, loss, (rec, kl) = update(params, opt_state, x, sub, kl_weight(step))
        print(f"step={step} elbo={-float(loss):.3f} rec={float(rec):.3f} kl={float(kl):.3f} "
              f"beta={kl_weight(step):.4f} ({1 / (time.time() - t):.2f} it/s)")
        t = time.time()


main()
