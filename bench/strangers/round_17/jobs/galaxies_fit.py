import os
import signal
import time

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn

signal.alarm(270)
pid, total = int(os.environ["PROC_ID"]), int(os.environ["NUM_PROCS"])
print(f"process {pid} of {total}: joining {os.environ['COORD']}", flush=True)
jax.distributed.initialize(os.environ["COORD"], num_processes=total, process_id=pid)
print(f"process {pid}: {jax.device_count()} devices", flush=True)


class Redshift(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(128)(x))
        x = nn.relu(nn.Dense(128)(x))
        return nn.Dense(1)(x)[:, 0]


net = Redshift()
params = net.init(jax.random.PRNGKey(0), jnp.zeros((1, 5)))
tx = optax.adam(1e-3)
state = tx.init(params)


@jax.jit
def step(params, state, x, z):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((net.apply(p, x) - z) ** 2))(params)
    up, state = tx.update(grads, state)
    return optax.apply_updates(params, up), state, loss


key = jax.random.PRNGKey(pid)
for k in range(200_000):
    key, sub = jax.random.split(key)
    mags = jax.random.normal(sub, (256, 5))
    params, state, loss = step(params, state, mags, jnp.tanh(mags[:, 0] - mags[:, 3]))
    if k % 200 == 0:
        print(f"{time.time():.0f} p{pid} {k} {float(loss):.5f}", flush=True)
