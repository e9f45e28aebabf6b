"""GRU language model over log messages, one message at a time."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

V, D = 96, 96
key = jax.random.PRNGKey(3)
ks = jax.random.split(key, 6)
params = {
    "emb": jax.random.normal(ks[0], (V, D)) * 0.1,
    "wz": jax.random.normal(ks[1], (2 * D, D)) * 0.1,
    "wr": jax.random.normal(ks[2], (2 * D, D)) * 0.1,
    "wh": jax.random.normal(ks[3], (2 * D, D)) * 0.1,
    "out": jax.random.normal(ks[4], (D, V)) * 0.1,
}
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
opt = tx.init(params)


def nll(p, ids):
    def cell(h, i):
        x = p["emb"][i]
        xh = jnp.concatenate([x, h])
        z, r = jax.nn.sigmoid(xh @ p["wz"]), jax.nn.sigmoid(xh @ p["wr"])
        n = jnp.tanh(jnp.concatenate([x, r * h]) @ p["wh"])
        h = (1 - z) * n + z * h
        return h, h

    _, hs = jax.lax.scan(cell, jnp.zeros(D), ids[:-1])
    logp = jax.nn.log_softmax(hs @ p["out"])
    return -jnp.take_along_axis(logp, ids[1:, None], 1).mean()


@jax.jit
def update(p, s, ids):
    loss, g = jax.value_and_grad(nll)(p, ids)
    up, s = tx.update(g, s, p)
    return optax.apply_updates(p, up), s, loss


rng = np.random.default_rng(0)
words = ["connect", "retry", "timeout=30", "user", "OK", "200", "GET /index", "cache miss", "flush", "db", "slow query"]
seen, t0 = 0, time.perf_counter()
avg = None
while True:
    n = int(rng.lognormal(4.0, 0.7)) + 4
    text = " ".join(rng.choice(words, n))[:2500]
    ids = jnp.asarray(np.frombuffer(text.encode(), np.uint8).astype(np.int32) - 32)
    params, opt, loss = update(params, opt, ids)
    loss = float(loss)
    avg = loss if avg is None else 0.95 * avg + 0.05 * loss
    seen += 1
    if seen % 2 == 0:
        dt, t0 = time.perf_counter() - t0, time.perf_counter()
        print(f"msgs {seen:6d} | nll/char {avg:.3f} | {2 / dt:.2f} msgs/s", flush=True)
