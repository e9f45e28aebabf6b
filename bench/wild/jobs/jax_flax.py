"""JAX with flax and optax: a jitted step and lines of absl."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from absl import logging
from flax import linen as nn


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(3):
            x = nn.relu(nn.Dense(1024)(x))
        return nn.Dense(1)(x)[:, 0]


def batches():
    rng = np.random.default_rng(0)
    while True:
        x = rng.normal(size=(512, 64)).astype(np.float32)
        yield x, np.sin(x[:, :8]).sum(1)


net, optimizer = Net(), optax.adam(1e-4)


@jax.jit
def train_step(params, state, x, y):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((net.apply(p, x) - y) ** 2))(params)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state, loss


def main():
    logging.set_verbosity(logging.INFO)
    params = net.init(jax.random.key(0), jnp.zeros((1, 64)))
    state = optimizer.init(params)
    for step, (x, y) in enumerate(batches(), 1):
        params, state, loss = train_step(params, state, jax.device_put(x), jax.device_put(y))
        if step % 5 == 0:
            logging.info("step=%d, loss=%.5f", step, loss)


main()
