"""PINN for the 1-D heat equation. Collocation points are redrawn between stages."""
import csv
import time

import jax
import jax.numpy as jnp
import optax

WIDTHS = [2, 96, 96, 96, 1]
ALPHA = 0.05


def init(key):
    out = []
    for a, b in zip(WIDTHS, WIDTHS[1:]):
        key, k = jax.random.split(key)
        out.append((jax.random.normal(k, (a, b)) * (2 / (a + b)) ** 0.5, jnp.zeros(b)))
    return out


def u(params, t, x):
    h = jnp.stack([t, x])
    for w, b in params[:-1]:
        h = jnp.tanh(h @ w + b)
    w, b = params[-1]
    return (h @ w + b)[0]


def residual(params, p):
    t, x = p
    ut = jax.grad(u, 1)(params, t, x)
    uxx = jax.grad(jax.grad(u, 2), 2)(params, t, x)
    return ut - ALPHA * uxx


def loss_fn(params, inner, start, edge):
    r = jax.vmap(lambda p: residual(params, p))(inner)
    s = jax.vmap(lambda x: u(params, 0.0, x) - jnp.sin(jnp.pi * x) - 0.5 * jnp.sin(4 * jnp.pi * x))(start)
    e = jax.vmap(lambda t: u(params, t, 0.0) ** 2 + u(params, t, 1.0) ** 2)(edge)
    return (r**2).mean() + 10 * (s**2).mean() + e.mean()


sched = optax.warmup_cosine_decay_schedule(0.0, 1e-3, 300, 40000)
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(sched))


@jax.jit
def step(params, opt, inner, start, edge):
    val, g = jax.value_and_grad(loss_fn)(params, inner, start, edge)
    upd, opt = tx.update(g, opt, params)
    return optax.apply_updates(params, upd), opt, val


key = jax.random.PRNGKey(0)
params = init(key)
opt = tx.init(params)
with open("progress.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["stage", "step", "loss", "lr", "wall"])
    t0, n = time.time(), 0
    for stage in range(400):
        key, a, b, c, d = jax.random.split(key, 5)
        pool = jax.random.uniform(a, (20000, 2))
        start, edge = jax.random.uniform(b, (256,)), jax.random.uniform(c, (256,))
        for k in range(150):
            d, e = jax.random.split(d)
            inner = pool[jax.random.randint(e, (768,), 0, len(pool))]
            params, opt, val = step(params, opt, inner, start, edge)
            n += 1
            if n % 10 == 0:
                w.writerow([stage, n, f"{float(val):.6f}", f"{float(sched(n)):.2e}", f"{time.time() - t0:.2f}"])
                f.flush()
        print(f"stage {stage} done, loss {float(val):.5f}", flush=True)
