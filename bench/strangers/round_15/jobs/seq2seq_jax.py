"""Learns to sort digit strings. Two sequence lengths, so two compilations. Metrics go to metrics.jsonl."""
import json
import pickle
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCAB = 64


class Block(nn.Module):
    dim: int

    @nn.compact
    def __call__(self, x):
        h = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=4)(h, h)
        h = nn.LayerNorm()(x)
        return x + nn.Dense(self.dim)(nn.gelu(nn.Dense(2 * self.dim)(h)))


class Sorter(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(VOCAB, 64)(tokens) + self.param("pos", nn.initializers.normal(0.02), (64, 64))[: tokens.shape[1]]
        for _ in range(2):
            x = Block(64)(x)
        return nn.Dense(VOCAB)(x)


model = Sorter()
schedule = optax.warmup_cosine_decay_schedule(0.0, 4e-4, 300, 40_000, 1e-5)
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))


@jax.jit
def train_step(params, state, tokens):
    def loss_fn(p):
        return optax.softmax_cross_entropy_with_integer_labels(model.apply(p, tokens), jnp.sort(tokens, 1)).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state, loss, optax.global_norm(grads)


@jax.jit
def accuracy(params, tokens):
    return (model.apply(params, tokens).argmax(-1) == jnp.sort(tokens, 1)).mean()


def main():
    rng = np.random.default_rng(0)
    params = model.init(jax.random.PRNGKey(0), jnp.zeros((1, 32), int))
    state = tx.init(params)
    held_out = rng.integers(0, VOCAB, (256, 48))
    with open("metrics.jsonl", "w", buffering=1) as out:
        start = time.time()
        for step in range(1, 40_001):
            length = 32 if step % 3 else 48
            params, state, loss, norm = train_step(params, state, rng.integers(0, VOCAB, (32, length)))
            if step % 20 == 0:
                row = {"step": step, "loss": round(float(loss), 4), "grad_norm": round(float(norm), 4), "lr": float(schedule(step)), "elapsed": round(time.time() - start, 2)}
                out.write(json.dumps(row) + "\n")
            if step % 200 == 0:
                row = {"step": step, "eval_accuracy": round(float(accuracy(params, held_out)), 4)}
                out.write(json.dumps(row) + "\n")
                with open("params.pkl", "wb") as f:
                    pickle.dump(jax.device_get(params), f)


if __name__ == "__main__":
    main()
