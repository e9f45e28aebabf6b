"""Masked residue model on (synthetic) protein sequences, JAX."""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from tqdm import tqdm

VOCAB, DIM, LAYERS = 25, 48, 1


def init(key):
    ks = jax.random.split(key, 2 + LAYERS)
    p = {"emb": jax.random.normal(ks[0], (VOCAB, DIM)) * 0.05, "out": jax.random.normal(ks[1], (DIM, VOCAB)) * 0.05, "layers": []}
    for k in ks[2:]:
        a, b, c, d = jax.random.split(k, 4)
        p["layers"].append({
            "qkv": jax.random.normal(a, (DIM, 3 * DIM)) * 0.05, "proj": jax.random.normal(b, (DIM, DIM)) * 0.05,
            "up": jax.random.normal(c, (DIM, 2 * DIM)) * 0.05, "down": jax.random.normal(d, (2 * DIM, DIM)) * 0.05,
        })
    return p


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)


def loss_fn(p, tokens, mask):
    x = p["emb"][jnp.where(mask, 24, tokens)]
    for lay in p["layers"]:
        q, k, v = jnp.split(norm(x) @ lay["qkv"], 3, -1)
        w = jax.nn.softmax(q @ k.swapaxes(-1, -2) / DIM ** 0.5, -1)
        x = x + (w @ v) @ lay["proj"]
        x = x + jax.nn.gelu(norm(x) @ lay["up"]) @ lay["down"]
    ll = optax.softmax_cross_entropy_with_integer_labels(norm(x) @ p["out"], tokens)
    return (ll * mask).sum() / mask.sum()


tx = optax.adamw(1e-3)


@jax.jit
def update(p, s, tokens, mask):
    loss, g = jax.value_and_grad(loss_fn)(p, tokens, mask)
    up, s = tx.update(g, s, p)
    return optax.apply_updates(p, up), s, loss


def batches(rng, freq):
    while True:
        seqs = [rng.choice(24, size=int(rng.gamma(4, 45)) + 30, p=freq) for _ in range(4)]
        width = max(map(len, seqs))
        tok = np.zeros((4, width), np.int32)
        for i, s in enumerate(seqs):
            tok[i, :len(s)] = s
        yield tok, rng.random(tok.shape) < 0.15


def main():
    rng = np.random.default_rng(0)
    freq = rng.dirichlet(np.ones(24))
    p = init(jax.random.key(0))
    s = tx.init(p)
    bar = tqdm(total=20000, mininterval=1.0, desc="train")
    for tok, mask in batches(rng, freq):
        p, s, loss = update(p, s, tok, mask)
        bar.set_postfix(loss=f"{float(loss):.3f}")
        bar.update()
        if bar.n % 25 == 0:
            jax.clear_caches()  # host memory
        if bar.n >= bar.total:
            break


if __name__ == "__main__":
    main()
