"""Energy model for conformers with an experience pool, JAX + Flax."""
import time
from pathlib import Path

import flax.linen as nn
import jax
import jax.numpy as jnp
import joblib
import numpy as np
import optax


class Potential(nn.Module):
    @nn.compact
    def __call__(self, pos):
        d = jnp.sqrt(((pos[:, :, None] - pos[:, None]) ** 2).sum(-1) + 1e-3)
        rbf = jnp.exp(-4 * (d[..., None] - jnp.linspace(0.5, 4, 16)) ** 2)
        h = nn.silu(nn.Dense(64)(rbf.sum(2)))
        h = nn.silu(nn.Dense(64)(h))
        return nn.Dense(1)(h).sum((1, 2))


def reference(pos):
    d = np.sqrt(((pos[:, :, None] - pos[:, None]) ** 2).sum(-1) + 1e-3)
    e = np.exp(-2 * (d - 1.5)) - 2 * np.exp(-(d - 1.5))
    return (e * (1 - np.eye(pos.shape[1]))).sum((1, 2)).clip(-30, 60) / 20


def main():
    rng = np.random.default_rng(5)
    pool = rng.normal(0, 1.6, (60000, 12, 3)).astype(np.float32)
    energy = reference(pool).astype(np.float32)
    model = Potential()
    params = model.init(jax.random.PRNGKey(0), pool[:2])
    tx = optax.adam(4e-4)
    state = tx.init(params)

    @jax.jit
    def update(params, state, x, y):
        def objective(p):
            return jnp.mean((model.apply(p, x) - y) ** 2)
        loss, grads = jax.value_and_grad(objective)(params)
        updates, state = tx.update(grads, state)
        return optax.apply_updates(params, updates), state, loss

    Path("ckpt").mkdir(exist_ok=True)
    losses = []
    for it in range(1, 1_000_000):
        pick = rng.integers(0, len(pool), 96)
        params, state, loss = update(params, state, pool[pick], energy[pick])
        losses.append(float(loss))
        if it % 50 == 0:
            print(f"{time.strftime('%H:%M:%S')} iter {it:>6} energy_mse {np.mean(losses[-50:]):.5f}")
        if it % 600 == 0:
            joblib.dump({"it": it, "params": jax.device_get(params), "opt": jax.device_get(state), "pool": pool,
                         "energy": energy, "losses": losses}, f"ckpt/iter_{it % 1800}.xz", compress=("xz", 6))
            print(f"{time.strftime('%H:%M:%S')} iter {it:>6} checkpoint ckpt/iter_{it % 1800}.xz")


main()
