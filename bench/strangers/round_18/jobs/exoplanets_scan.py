"""Transit detector in flax; the whole update of four unrolled sub-steps is one compiled program."""
import sys
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Detector(nn.Module):
    @nn.compact
    def __call__(self, flux):
        h = flux[..., None]
        for width in (16, 16, 16):
            h = nn.gelu(nn.Conv(width, (5,), strides=(2,))(h))
            h = nn.LayerNorm()(h)
        return nn.Dense(1)(h.mean(1))[:, 0]


net, tx = Detector(), optax.adamw(1e-3)
rng = np.random.default_rng(1)


def night(n=32, length=160):
    flux = 0.3 * rng.normal(size=(4, n, length)).astype("float32")
    label = rng.random((4, n)) < 0.5
    at = rng.integers(20, 130, (4, n))
    for q in range(4):
        for i in np.flatnonzero(label[q]):
            flux[q, i, at[q, i]:at[q, i] + 12] -= 0.5
    return jnp.asarray(flux), jnp.asarray(label, jnp.float32)


@jax.jit
def update(params, state, flux, label):
    total = 0.0
    for q in range(4):
        def objective(p):
            return optax.sigmoid_binary_cross_entropy(net.apply(p, flux[q]), label[q]).mean()

        value, grads = jax.value_and_grad(objective)(params)
        delta, state = tx.update(grads, state, params)
        params = optax.apply_updates(params, delta)
        total += value / 4
    return params, state, total


flux, label = night()
params = net.init(jax.random.key(0), flux[0])
state = tx.init(params)
print("compiling the update, this takes a while (once)", flush=True)
begun = time.time()
params, state, value = update(params, state, flux, label)
value.block_until_ready()
print(f"compiled in {time.time() - begun:.1f} s", flush=True)
for block in range(1, 10**6):
    params, state, value = update(params, state, *night())
    if block % 10 == 0:
        sys.stdout.write(f"block {block:6d}  xent {float(value):.4f}  ({(time.time() - begun) / block:.3f} s each so far)\n")
        sys.stdout.flush()
