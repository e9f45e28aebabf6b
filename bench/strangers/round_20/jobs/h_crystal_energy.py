"""Formation energies of crystals with a small message-passing net in JAX."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(0)


def crystal():
    n = int(rng.integers(4, 40))
    z = rng.integers(0, 20, n)
    xyz = rng.uniform(0, n ** (1 / 3), (n, 3))
    d = np.linalg.norm(xyz[:, None] - xyz[None], axis=-1)
    i, j = np.nonzero((d < 1.3) & (d > 0))
    e = np.cos(z).sum() / n + np.exp(-d[i, j]).sum() / n
    return z, i, j, d[i, j], e


def collate(crystals):
    z, i, j, d, owner, e, at = [], [], [], [], [], [], 0
    for k, (cz, ci, cj, cd, ce) in enumerate(crystals):
        z.append(cz); i.append(ci + at); j.append(cj + at); d.append(cd); e.append(ce)
        owner.append(np.full(len(cz), k))
        at += len(cz)
    return tuple(map(np.concatenate, (z, i, j, d, owner))) + (np.array(e, "f4"),)


def init(key, width=48, layers=2):
    keys = iter(jax.random.split(key, 3 * layers + 2))
    dense = lambda a, b: jax.random.normal(next(keys), (a, b)) / np.sqrt(a)
    return {
        "emb": dense(20, width),
        "layers": [{"msg": dense(2 * width + 8, width), "upd": dense(2 * width, width)} for _ in range(layers)],
        "out": dense(width, 1),
    }


def energy(p, z, i, j, d, owner, crystals):
    h = p["emb"][z]
    basis = jnp.exp(-((d[:, None] - jnp.linspace(0, 1.3, 8)) ** 2) / 0.05)
    for layer in p["layers"]:
        m = jax.nn.silu(jnp.concatenate([h[i], h[j], basis], -1) @ layer["msg"])
        pooled = jax.ops.segment_sum(m, i, num_segments=h.shape[0])
        h = h + jax.nn.silu(jnp.concatenate([h, pooled], -1) @ layer["upd"])
    per_atom = (h @ p["out"])[:, 0]
    count = jax.ops.segment_sum(jnp.ones_like(per_atom), owner, num_segments=crystals)
    return jax.ops.segment_sum(per_atom, owner, num_segments=crystals) / count


opt = optax.adamw(optax.cosine_decay_schedule(2e-3, 4000))


@jax.jit
def train_step(p, s, z, i, j, d, owner, e):
    def mae(p):
        return jnp.abs(energy(p, z, i, j, d, owner, e.shape[0]) - e).mean()
    loss, g = jax.value_and_grad(mae)(p)
    up, s = opt.update(g, s, p)
    return optax.apply_updates(p, up), s, loss


data = [crystal() for _ in range(3000)]
p = init(jax.random.PRNGKey(0))
s = opt.init(p)
print(f"{len(data)} crystals, {sum(x.size for x in jax.tree.leaves(p))} weights, {jax.devices()}")
t = time.time()
for step in range(4000):
    batch = collate([data[k] for k in rng.choice(len(data), 32, replace=False)])
    p, s, loss = train_step(p, s, *batch)
    if step % 2 == 0:
        print(f"{step:5d}/4000   MAE {float(loss):7.4f} eV/atom   {(time.time() - t):6.1f} s")
