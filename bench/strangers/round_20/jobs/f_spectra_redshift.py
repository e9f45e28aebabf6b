"""Redshift regression from spectra of varying length (flax + optax)."""
import time
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from absl import app, flags, logging

FLAGS = flags.FLAGS
flags.DEFINE_integer("batch", 6, "spectra per step")
flags.DEFINE_float("lr", 3e-4, "peak learning rate")
flags.DEFINE_integer("steps", 50_000, "steps")

LINES = np.array([3727.0, 4861.0, 4959.0, 5007.0, 6563.0, 6584.0])


def observe(rng):
    z = rng.uniform(0.02, 0.4)
    lo, hi = 3600 + rng.uniform(0, 400), 7600 + rng.uniform(0, 2400)
    wave = np.arange(lo, hi, rng.choice([2.0, 2.5, 3.0, 4.0]))
    flux = rng.normal(0, 0.3, len(wave))
    for line in LINES * (1 + z):
        flux += rng.uniform(1, 4) * np.exp(-0.5 * ((wave - line) / 8) ** 2)
    return np.stack([flux, (wave - 6500) / 2000], -1).astype(np.float32), np.float32(z)


def collate(spectra):
    xs, zs = zip(*spectra)
    longest = max(len(x) for x in xs)
    out = np.zeros((len(xs), longest, 2), np.float32)
    mask = np.zeros((len(xs), longest), np.float32)
    for i, x in enumerate(xs):
        out[i, : len(x)], mask[i, : len(x)] = x, 1
    return out, mask, np.array(zs)


class SpecNet(nn.Module):
    @nn.compact
    def __call__(self, x, mask):
        for width in (16, 32):
            x = nn.Conv(width, (7,), strides=(4,))(x)
            x = nn.LayerNorm()(x)
            x = nn.gelu(x)
            mask = mask[:, ::4]
        att = nn.Dense(1)(x)[..., 0] - 1e4 * (1 - mask)
        pooled = jnp.einsum("bl,blc->bc", nn.softmax(att, -1), x)
        return nn.Dense(1)(nn.gelu(nn.Dense(64)(pooled)))[:, 0]


def main(_):
    logging.set_verbosity(logging.INFO)
    logging.get_absl_handler().setFormatter(None)
    rng = np.random.default_rng(5)
    net = SpecNet()
    x, mask, z = collate([observe(rng) for _ in range(FLAGS.batch)])
    params = jax.jit(net.init)(jax.random.key(0), x, mask)
    tx = optax.adamw(FLAGS.lr)
    opt = tx.init(params)

    @jax.jit
    def update(params, opt, x, mask, z):
        def objective(p):
            return jnp.mean(jnp.abs(net.apply(p, x, mask) - 10 * z))

        loss, grads = jax.value_and_grad(objective)(params)
        delta, opt = tx.update(grads, opt, params)
        return optax.apply_updates(params, delta), opt, loss

    logging.info("%d parameters", sum(p.size for p in jax.tree.leaves(params)))
    tick = time.time()
    for step in range(1, FLAGS.steps):
        x, mask, z = collate([observe(rng) for _ in range(FLAGS.batch)])
        params, opt, loss = update(params, opt, x, mask, z)
        if step % 2 == 0:
            loss = float(loss)
            logging.info("step %d  mae*10 %.4f  %.2f steps/s", step, loss, 2 / (time.time() - tick))
            tick = time.time()


if __name__ == "__main__":
    app.run(main)
