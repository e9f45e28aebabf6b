"""Solvation energies of small molecules: message passing in flax, molecules batched as they come."""
import logging
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

logging.basicConfig(format="%(asctime)s %(levelname).1s solv: %(message)s", level=logging.INFO)
logging.getLogger("jax").setLevel(logging.WARNING)
log = logging.getLogger("solv")
rng = np.random.default_rng(11)


class MPNN(nn.Module):
    width: int = 48
    hops: int = 1

    @nn.compact
    def __call__(self, atoms, src, dst):
        h = nn.Embed(12, self.width)(atoms)
        for _ in range(self.hops):
            m = nn.relu(nn.Dense(self.width)(jnp.concatenate([h[src], h[dst]], -1)))
            agg = jax.ops.segment_sum(m, dst, atoms.shape[0])
            h = nn.LayerNorm()(h + nn.Dense(self.width)(nn.gelu(agg)))
        return nn.Dense(1)(h).sum()


def draw():
    n = int(rng.integers(40, 900))
    e = int(n * rng.uniform(1.8, 2.4))
    atoms = rng.integers(0, 12, n)
    return jnp.array(atoms), jnp.array(rng.integers(0, n, e)), jnp.array(rng.integers(0, n, e)), float(atoms.mean() - 5.5)


model = MPNN()
a, s, d, _ = draw()
params = model.init(jax.random.key(0), a, s, d)
tx = optax.adam(1e-3)
state = tx.init(params)


@jax.jit
def update(params, state, atoms, src, dst, target):
    def objective(p):
        return (model.apply(p, atoms, src, dst) / atoms.shape[0] - target) ** 2

    value, grads = jax.value_and_grad(objective)(params)
    delta, state = tx.update(grads, state)
    return optax.apply_updates(params, delta), state, value


t = time.time()
for step in range(1, 100000):
    a, s, d, y = draw()
    params, state, value = update(params, state, a, s, d, y)
    if step:
        log.info("batch %d  atoms %d  mse %.4f  %.2f s/batch", step, a.shape[0], float(value), time.time() - t)
        t = time.time()
