"""VAE on telemetry. Minutes of data arrive from the rig in shards; between two shards the trainer rests."""
import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

DIM, LAT = 96, 8
SHARD_PERIOD = 9.0


def log(event, **kw):
    print(json.dumps({"ts": round(time.time(), 2), "event": event, **kw}), flush=True)


def dense(key, a, b):
    return {"w": jax.random.normal(key, (a, b)) / a ** 0.5, "b": jnp.zeros(b)}


def apply(p, x):
    return x @ p["w"] + p["b"]


def init(key):
    k = jax.random.split(key, 4)
    return {"e1": dense(k[0], DIM, 512), "e2": dense(k[1], 512, 2 * LAT), "d1": dense(k[2], LAT, 512), "d2": dense(k[3], 512, DIM)}


def elbo(p, key, x):
    mu, lv = jnp.split(apply(p["e2"], jax.nn.gelu(apply(p["e1"], x))), 2, -1)
    lv = jnp.clip(lv, -8, 4)
    z = mu + jnp.exp(lv / 2) * jax.random.normal(key, mu.shape)
    rec = apply(p["d2"], jax.nn.gelu(apply(p["d1"], z)))
    kl = 0.5 * (mu ** 2 + jnp.exp(lv) - lv - 1).sum(-1)
    return (((rec - x) ** 2).sum(-1) / 0.5 + kl).mean()


tx = optax.chain(optax.clip_by_global_norm(5.0), optax.adam(optax.warmup_cosine_decay_schedule(0, 1e-4, 300, 100000)))


@jax.jit
def update(p, s, key, x):
    loss, g = jax.value_and_grad(elbo)(p, key, x)
    u, s = tx.update(g, s, p)
    return optax.apply_updates(p, u), s, loss


def shard(rng, n=12000):
    basis = np.random.default_rng(0).normal(size=(LAT, DIM))
    z = rng.normal(size=(n, LAT))
    return (np.sin(z @ basis / 3) + 0.3 * rng.normal(size=(n, DIM))).astype(np.float32)


def main():
    key, rng = jax.random.PRNGKey(0), np.random.default_rng(1)
    p = init(key)
    s = tx.init(p)
    step, number = 0, 0
    while True:
        due = time.monotonic() + SHARD_PERIOD
        x = shard(rng)
        number += 1
        log("shard_start", shard=number, rows=len(x))
        for epoch in range(12):
            order = rng.permutation(len(x))
            for k in range(0, len(x), 100):
                key, sub = jax.random.split(key)
                p, s, loss = update(p, s, sub, x[order[k:k + 100]])
                step += 1
                if step % 40 == 0:
                    log("train", step=step, neg_elbo=round(float(loss), 3))
        for name, leaf in p.items():
            log("param", name=name, norm=round(float(jnp.linalg.norm(leaf["w"])), 3))
        np.savez("vae.npz", **{f"{n}.{m}": np.asarray(v) for n, d in p.items() for m, v in d.items()})
        rest = max(0.0, due - time.monotonic())
        log("shard_done", shard=number, step=step, next_shard_in=round(rest, 1))
        time.sleep(rest)


if __name__ == "__main__":
    sys.exit(main())
