"""Torsion angles from sequence windows; cosine restarts, two crop lengths."""
import json
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

LENGTHS = (32, 64)


class Net(nn.Module):
    @nn.compact
    def __call__(self, seq):
        h = nn.Embed(20, 48)(seq)
        for d in (1, 2, 4):
            h = h + nn.gelu(nn.LayerNorm()(nn.Conv(48, (5,), kernel_dilation=d)(h)))
        v = nn.Dense(4)(h).reshape(*seq.shape, 2, 2)
        return v / (jnp.linalg.norm(v + 1e-6, axis=-1, keepdims=True) + 1e-4)


net = Net()
schedule = optax.sgdr_schedule([dict(init_value=5e-4, peak_value=2e-3, warmup_steps=20, decay_steps=500, end_value=1e-5)] * 60)
opt = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))
MIX = np.random.default_rng(3).normal(size=(2, 7, 20))


def batch(rng, length, n=128):
    seq = rng.integers(0, 20, (n, length))
    padded = np.pad(seq, ((0, 0), (3, 3)))
    angle = sum(MIX[:, k][:, padded[:, k:k + length]] for k in range(7)).transpose(1, 2, 0) * 0.5
    angle = angle + rng.normal(size=angle.shape) * 0.3
    return seq, np.stack([np.cos(angle), np.sin(angle)], -1).astype(np.float32)


@jax.jit
def update(params, state, seq, target):
    def loss_fn(p):
        return jnp.square(net.apply(p, seq) - target).sum(-1).mean()
    loss, grads = jax.value_and_grad(loss_fn)(params)
    up, state = opt.update(grads, state, params)
    return optax.apply_updates(params, up), state, loss, optax.global_norm(grads)


def main():
    rng = np.random.default_rng(0)
    params = jax.jit(net.init)(jax.random.PRNGKey(0), jnp.zeros((1, 32), jnp.int32))
    state = opt.init(params)
    t0 = time.time()
    for step in range(1, 30_000):
        seq, target = batch(rng, int(rng.choice(LENGTHS)))
        params, state, loss, gn = update(params, state, seq, target)
        if step % 20 == 0:
            print(json.dumps({"step": step, "L": seq.shape[1], "loss": round(float(loss), 4), "lr": float(f"{float(schedule(step)):.3e}"),
                              "grad_norm": round(float(gn), 3), "elapsed": round(time.time() - t0, 1)}), flush=True)


main()
