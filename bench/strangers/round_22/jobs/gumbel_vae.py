from functools import partial
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

K, C, D = 10, 12, 256


def init(key):
    def dense(k, i, o):
        return {"w": jax.random.normal(k, (i, o)) * (2.0 / i) ** 0.5, "b": jnp.zeros(o)}
    ks = jax.random.split(key, 6)
    return {"e1": dense(ks[0], D, 128), "e2": dense(ks[1], 128, 96), "e3": dense(ks[2], 96, K * C),
            "d1": dense(ks[3], K * C, 96), "d2": dense(ks[4], 96, 128), "d3": dense(ks[5], 128, D)}


def lin(p, x):
    return x @ p["w"] + p["b"]


def sample(key, logits, tau, hard):
    g = jax.random.gumbel(key, logits.shape)
    y = jax.nn.softmax((logits + g) / tau, -1)
    if hard:
        h = jax.nn.one_hot(y.argmax(-1), C)
        y = h + y - jax.lax.stop_gradient(y)
    return y


def elbo(p, key, x, tau, hard):
    h = jax.nn.relu(lin(p["e2"], jax.nn.relu(lin(p["e1"], x))))
    logits = lin(p["e3"], h).reshape(-1, K, C)
    z = sample(key, logits, tau, hard).reshape(x.shape[0], -1)
    o = lin(p["d3"], jax.nn.relu(lin(p["d2"], jax.nn.relu(lin(p["d1"], z)))))
    rec = optax.sigmoid_binary_cross_entropy(o, x).sum(-1).mean()
    q = jax.nn.softmax(logits, -1)
    kl = (q * (jnp.log(q + 1e-9) + jnp.log(C))).sum((-1, -2)).mean()
    return rec + kl, (rec, kl)


tx = optax.chain(optax.clip_by_global_norm(5.0), optax.adam(2e-3))


@partial(jax.jit, static_argnames=("tau", "hard"))
def update(p, s, key, x, tau, hard=False):
    (l, aux), g = jax.value_and_grad(elbo, has_aux=True)(p, key, x, tau, hard)
    u, s = tx.update(g, s, p)
    return optax.apply_updates(p, u), s, l, aux


def batches(rng, n=256):
    protos = rng.random((60, D)) < 0.3
    while True:
        x = protos[rng.integers(0, 60, n)] ^ (rng.random((n, D)) < 0.04)
        yield jnp.asarray(x, jnp.float32)


def main():
    key = jax.random.PRNGKey(3)
    p = init(key)
    s = tx.init(p)
    it = batches(np.random.default_rng(0))
    t = time.time()
    for i in range(1, 200001):
        tau = float(max(0.4, np.exp(-2e-4 * i)))
        key, k = jax.random.split(key)
        p, s, l, (rec, kl) = update(p, s, k, next(it), tau)
        if i <= 200 or i % 50 == 0:
            l = float(l)
            sys.stdout.write(f"it {i:>6d}  -elbo {l:8.3f}  rec {float(rec):8.3f}  kl {float(kl):6.3f}  tau {tau:.4f}  {time.time() - t:6.2f} s\n")
            t = time.time()


main()
