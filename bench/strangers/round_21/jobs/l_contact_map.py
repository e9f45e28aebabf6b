# contact prediction from MSA pair features, JAX
import json
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

CFG = dict(layers=12, width=128, feats=84, batch=4096, lr=3e-4, init_std=0.02, seed=7)


def init(key):
    sizes = [CFG["feats"]] + [CFG["width"]] * CFG["layers"] + [1]
    keys = jax.random.split(key, len(sizes) - 1)
    return [CFG["init_std"] * jax.random.normal(k, (a, b)) for k, a, b in zip(keys, sizes[:-1], sizes[1:])]


def logits(params, x):
    for w in params[:-1]:
        x = jnp.tanh(x @ w)
    return (x @ params[-1])[:, 0]


def loss_fn(params, x, y):
    return optax.sigmoid_binary_cross_entropy(logits(params, x), y).mean()


def make_pairs(rng, n):
    x = rng.normal(size=(n, CFG["feats"])).astype(np.float32)
    coupling = x[:, :10].sum(1) + 0.7 * x[:, 10] * x[:, 11]
    return x, (coupling + 0.3 * rng.normal(size=n) > 0).astype(np.float32)


opt = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(CFG["lr"] * 100, momentum=0.9, nesterov=True))


@jax.jit
def update(params, state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, state = opt.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss, optax.global_norm(grads)


def main():
    rng = np.random.default_rng(CFG["seed"])
    params = init(jax.random.PRNGKey(CFG["seed"]))
    state = opt.init(params)
    print("config", json.dumps(CFG), "params", sum(p.size for p in params), flush=True)
    t0 = time.perf_counter()
    for it in range(1, 200_001):
        x, y = make_pairs(rng, CFG["batch"])
        params, state, loss, gnorm = update(params, state, x, y)
        if it % 20 == 0:
            loss, gnorm = float(loss), float(gnorm)
            dt = time.perf_counter() - t0
            sys.stdout.write(f"it={it:<7d} loss={loss:.5f} grad_norm={gnorm:.3e} pairs/s={20 * CFG['batch'] / dt:,.0f}\n")
            sys.stdout.flush()
            t0 = time.perf_counter()


main()
