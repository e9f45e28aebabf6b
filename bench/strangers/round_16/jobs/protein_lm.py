"""Masked residue prediction on protein sequences with plain jax."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

AA = 21
DIM = 32


def init(key):
    k = jax.random.split(key, 4)
    s = 0.1
    return {
        "emb": jax.random.normal(k[0], (AA, DIM)) * s,
        "conv": [jax.random.normal(k[i], (5, DIM, DIM)) * s for i in range(1, 3)],
        "out": jax.random.normal(k[3], (DIM, AA)) * s,
    }


def nll(params, masked, target):
    h = params["emb"][masked][None]
    for w in params["conv"]:
        h = h + jax.nn.gelu(jax.lax.conv_general_dilated(h, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")))
    logp = jax.nn.log_softmax(h[0] @ params["out"])
    hit = masked == 0
    return -(jnp.take_along_axis(logp, target[:, None], 1)[:, 0] * hit).sum() / jnp.maximum(hit.sum(), 1)


tx = optax.adam(1e-3)


@jax.jit
def update(params, state, masked, target):
    loss, grads = jax.value_and_grad(nll)(params, masked, target)
    updates, state = tx.update(grads, state)
    return optax.apply_updates(params, updates), state, loss


def sequences(rng):
    while True:
        n = int(np.clip(rng.lognormal(5.6, 0.6), 40, 2500))
        base = rng.integers(1, AA, size=n)
        base[1::2] = base[: n - n % 2 : 2][: len(base[1::2])]
        masked = np.where(rng.random(n) < 0.15, 0, base)
        yield masked.astype(np.int32), base.astype(np.int32)


def main():
    params = init(jax.random.PRNGKey(0))
    state = tx.init(params)
    seen, window, tick = 0, [], time.perf_counter()
    for masked, target in sequences(np.random.default_rng(1)):
        params, state, loss = update(params, state, jnp.asarray(masked), jnp.asarray(target))
        seen += 1
        window.append(float(loss))
        if seen % 10 == 0:
            now = time.perf_counter()
            print(f"seen={seen} nll={np.mean(window):.3f} residues={len(target)} sec/seq={(now - tick) / 10:.3f}")
            window, tick = [], now


main()
