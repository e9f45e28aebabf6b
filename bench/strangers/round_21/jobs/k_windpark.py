"""Power curve of a wind park (JAX). Lines come in blocks; a long evaluation after every cycle."""
import json
import time

import jax
import jax.numpy as jnp
import numpy as np

TURBINES = 60


def truth(wind, seed=8):
    rng = np.random.default_rng(seed)
    wake = rng.normal(0, 0.25, (TURBINES + 3, 90)).astype("f4")
    out = rng.normal(0, 0.4, (90, TURBINES)).astype("f4")
    return np.tanh(wind @ wake) @ out


def init(sizes, key):
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(k, (a, b)) * (1.4 / a) ** 0.5, jnp.zeros(b)) for k, a, b in zip(keys, sizes, sizes[1:])]


def forward(params, x):
    for w, b in params[:-1]:
        x = jax.nn.gelu(x @ w + b)
    return x @ params[-1][0] + params[-1][1]


def error(params, x, y):
    return jnp.mean((forward(params, x) - y) ** 2)


@jax.jit
def step(params, velocity, x, y):
    value, grads = jax.value_and_grad(error)(params, x, y)
    velocity = jax.tree.map(lambda v, g: 0.9 * v - 0.004 * g, velocity, grads)
    return jax.tree.map(jnp.add, params, velocity), velocity, value


evaluate = jax.jit(error)


def main():
    rng = np.random.default_rng(1)
    params = init([TURBINES + 3, 400, 400, TURBINES], jax.random.PRNGKey(2))
    velocity = jax.tree.map(jnp.zeros_like, params)
    held = rng.normal(size=(4096, TURBINES + 3)).astype("f4")
    wanted = truth(held)
    lines, n = [], 0
    for cycle in range(100_000):
        for _ in range(800):
            x = rng.normal(size=(48, TURBINES + 3)).astype("f4")
            y = truth(x) + rng.normal(0, 0.6, (48, TURBINES)).astype("f4")
            params, velocity, value = step(params, velocity, x, y)
            n += 1
            if n % 40 == 0:
                lines.append(json.dumps({"n": n, "ts": round(time.time(), 2), "train_mse": round(float(value), 4)}))
            if len(lines) == 10:
                print("\n".join(lines), flush=True)
                lines.clear()
        scores = [float(evaluate(params, jnp.asarray(held + rng.normal(0, 0.02, held.shape).astype("f4")), wanted))
                  for _ in range(12)]
        print(json.dumps({"cycle": cycle, "eval_mse": round(float(np.mean(scores)), 5)}), flush=True)
        np.savez("latest.npz", *[a for pair in params for a in pair])


main()
