"""Next-note model in JAX: prints samples now and then."""
import pickle
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from absl import logging

logging.use_absl_handler()
logging.set_verbosity(logging.INFO)
V, W = 40, 128
table = np.random.default_rng(1).dirichlet(np.full(V, 0.15), (V, V)).cumsum(-1)


def melodies(rng, n, length=48):
    x = np.zeros((n, length), np.int32)
    x[:, :2] = rng.integers(0, V, (n, 2))
    for t in range(2, length):
        u = rng.random((n, 1))
        x[:, t] = np.minimum((u > table[x[:, t - 2], x[:, t - 1]]).sum(1), V - 1)
    return x


def init(key):
    k = jax.random.split(key, 6)
    m = lambda i, a, b: jax.random.normal(k[i], (a, b)) / a ** 0.5
    return {"e": m(0, V, W) * 0.5, "wx": m(1, W, 3 * W), "wh": m(2, W, 3 * W), "b": jnp.zeros(3 * W), "o": m(3, W, V)}


def run(p, x):
    def cell(h, t):
        a, b = t @ p["wx"] + p["b"], h @ p["wh"]
        z, r = jax.nn.sigmoid(a[:, :W] + b[:, :W]), jax.nn.sigmoid(a[:, W:2 * W] + b[:, W:2 * W])
        h = (1 - z) * h + z * jnp.tanh(a[:, 2 * W:] + r * b[:, 2 * W:])
        return h, h @ p["o"]
    _, y = jax.lax.scan(cell, jnp.zeros((x.shape[0], W)), p["e"][x].swapaxes(0, 1))
    return y.swapaxes(0, 1)


def nll(p, x):
    return optax.softmax_cross_entropy_with_integer_labels(run(p, x[:, :-1]), x[:, 1:]).mean()


tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(optax.warmup_cosine_decay_schedule(0, 1e-3, 200, 20000)))


@jax.jit
def step(p, s, x):
    loss, g = jax.value_and_grad(nll)(p, x)
    u, s = tx.update(g, s, p)
    return optax.apply_updates(p, u), s, loss


logits = jax.jit(run)
score = jax.jit(nll)
rng = np.random.default_rng(0)
params = init(jax.random.PRNGKey(0))
state = tx.init(params)
held = melodies(np.random.default_rng(77), 256)
began = time.time()
for i in range(20000):
    params, state, loss = step(params, state, melodies(rng, 32))
    if i % 20 == 0:
        logging.info("it=%d nll=%.4f it/s=%.1f", i, loss, (i + 1) / (time.time() - began))
    if i % 300 == 299:
        logging.info("held-out nll=%.4f", score(params, held))
        song = np.zeros((4, 48), np.int32)
        for t in range(1, 48):
            lg = np.asarray(logits(params, song))[:, t - 1]
            song[:, t] = (lg + rng.gumbel(size=lg.shape)).argmax(-1)
        for row in song:
            logging.info("sample: %s", " ".join(f"{n:02d}" for n in row))
        with open("chorale.pkl", "wb") as f:
            pickle.dump(jax.device_get((params, state)), f)
        logging.warning("checkpoint chorale.pkl exists, overwritten")
