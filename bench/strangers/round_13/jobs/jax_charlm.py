import logging
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

logging.basicConfig(format="%(levelname).1s %(asctime)s %(message)s", level=logging.INFO)
logging.getLogger("jax").setLevel(logging.WARNING)

VOCAB, DIM = 96, 64


def init(key):
    ks = jax.random.split(key, 5)
    n = lambda k, *s: jax.random.normal(k, s) * 0.1
    return dict(emb=n(ks[0], VOCAB, DIM), wx=n(ks[1], DIM, 3 * DIM), wh=n(ks[2], DIM, 3 * DIM), o=n(ks[3], DIM, VOCAB))


def gru(p, tokens):
    x = p["emb"][tokens] @ p["wx"]

    def cell(h, xt):
        a = h @ p["wh"]
        xr, xz, xn = jnp.split(xt, 3, -1)
        ar, az, an = jnp.split(a, 3, -1)
        r, z = jax.nn.sigmoid(xr + ar), jax.nn.sigmoid(xz + az)
        h = (1 - z) * jnp.tanh(xn + r * an) + z * h
        return h, h

    _, hs = jax.lax.scan(cell, jnp.zeros((tokens.shape[0], DIM)), x.swapaxes(0, 1))
    return hs.swapaxes(0, 1) @ p["o"]


def loss_fn(p, tokens):
    logits = gru(p, tokens[:, :-1])
    return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()


tx = optax.adam(3e-3)


@jax.jit
def train_step(p, st, tokens):
    l, g = jax.value_and_grad(loss_fn)(p, tokens)
    up, st = tx.update(g, st)
    return optax.apply_updates(p, up), st, l


def documents(seed=0):
    """Bucketless batching: documents of the same shard, cut to the shortest one."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, VOCAB, VOCAB)
    while True:
        n = int(rng.integers(8, 40))
        length = int(rng.integers(20, 400))
        toks = np.zeros((n, length), np.int32)
        toks[:, 0] = rng.integers(0, VOCAB, n)
        for j in range(1, length):
            jump = rng.random(n) < 0.2
            toks[:, j] = np.where(jump, rng.integers(0, VOCAB, n), table[toks[:, j - 1]])
        yield toks


params = init(jax.random.PRNGKey(0))
state = tx.init(params)
t = time.perf_counter()
for step, batch in enumerate(documents(), 1):
    params, state, l = train_step(params, state, batch)
    if step % 2 == 0:
        now = time.perf_counter()
        logging.info("step=%d loss=%.3f shape=%s %.2f s/2 steps", step, float(l), batch.shape, now - t)
        t = now
