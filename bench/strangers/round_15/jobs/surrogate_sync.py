"""Physics surrogate in JAX; two processes average their gradients over a socket."""
import os
import time
from multiprocessing.connection import Client, Listener

import jax
import jax.numpy as jnp
import numpy as np

RANK = int(os.environ["RANK"])
PORT = 31140


def connect():
    if RANK == 0:
        return Listener(("127.0.0.1", PORT), authkey=b"surrogate").accept()
    while True:
        try:
            return Client(("127.0.0.1", PORT), authkey=b"surrogate")
        except ConnectionRefusedError:
            time.sleep(0.3)


def init(key, sizes):
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(k, (a, b)) / np.sqrt(a), jnp.zeros(b)) for k, a, b in zip(keys, sizes, sizes[1:])]


def apply(params, x):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def target(x):
    return jnp.stack([jnp.sin(3 * x[:, 0]) * x[:, 1], jnp.cos(2 * x[:, 2] + x[:, 3])], 1)


@jax.jit
def value_and_grad(params, x):
    return jax.value_and_grad(lambda p: jnp.mean((apply(p, x) - target(x)) ** 2))(params)


def main():
    peer = connect()
    params = init(jax.random.PRNGKey(0), [4, 384, 384, 384, 2])
    leaves, tree = jax.tree_util.tree_flatten(params)
    rng = np.random.default_rng(RANK)
    out = open(f"history_{RANK}.csv", "w", buffering=1)
    out.write("step,loss,seconds\n")
    for step in range(1_000_000):
        t = time.perf_counter()
        loss, grads = value_and_grad(params, rng.uniform(-1, 1, (1024, 4)).astype("float32"))
        mine = [np.asarray(g) for g in jax.tree_util.tree_leaves(grads)]
        if RANK == 0:
            theirs = peer.recv()
            mean = [(a + b) / 2 for a, b in zip(mine, theirs)]
            peer.send(mean)
        else:
            peer.send(mine)
            mean = peer.recv()
        leaves = [p - 0.03 * g for p, g in zip(jax.tree_util.tree_leaves(params), mean)]
        params = jax.tree_util.tree_unflatten(tree, leaves)
        out.write(f"{step},{float(loss):.6f},{time.perf_counter() - t:.4f}\n")
        if step % 25 == 0 and RANK == 0:
            print("step", step, "loss", float(loss), flush=True)


main()
