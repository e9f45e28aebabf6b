"""VAE on rendered strokes."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class VAE(nnx.Module):
    def __init__(self, rngs):
        self.e1, self.e2 = nnx.Linear(256, 256, rngs=rngs), nnx.Linear(256, 32, rngs=rngs)
        self.d1, self.d2 = nnx.Linear(16, 256, rngs=rngs), nnx.Linear(256, 256, rngs=rngs)

    def __call__(self, x, key):
        mu, lv = jnp.split(self.e2(nnx.relu(self.e1(x))), 2, -1)
        z = mu + jnp.exp(lv / 2) * jax.random.normal(key, mu.shape)
        return self.d2(nnx.relu(self.d1(z))), mu, lv


TOTAL = 60000
model = VAE(nnx.Rngs(0))
sched = optax.warmup_cosine_decay_schedule(0.0, 1e-3, 500, TOTAL)
opt = nnx.Optimizer(model, optax.adam(sched), wrt=nnx.Param)


@nnx.jit
def train_step(model, opt, x, key):
    def loss_fn(m):
        logits, mu, lv = m(x, key)
        rec = optax.sigmoid_binary_cross_entropy(logits, x).sum(-1).mean()
        kl = 0.5 * (jnp.exp(lv) + mu**2 - 1 - lv).sum(-1).mean()
        return rec + kl, (rec, kl)

    (loss, parts), g = nnx.value_and_grad(loss_fn, has_aux=True)(model)
    opt.update(model, g)
    return loss, *parts


rng = np.random.default_rng(1)
yy, xx = np.mgrid[0:16, 0:16]


def strokes(n):
    a, b, c = rng.uniform(-1, 1, (3, n, 1, 1))
    d = np.abs((yy - 8) / 8 - a * (xx - 8) / 8 - b - c * ((xx - 8) / 8) ** 2)
    return (d < 0.2).reshape(n, 256).astype("float32")


key = jax.random.PRNGKey(7)
with open("train.csv", "w", buffering=1) as f:
    f.write("step,seconds,loss,rec,kl,lr\n")
    t0 = time.time()
    for i in range(1, TOTAL + 1):
        key, k = jax.random.split(key)
        loss, rec, kl = train_step(model, opt, strokes(96), k)
        if i % 40 == 0:
            f.write(f"{i},{time.time()-t0:.2f},{float(loss):.4f},{float(rec):.4f},{float(kl):.4f},{float(sched(i)):.3e}\n")
