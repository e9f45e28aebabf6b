"""Masked residue model on protein sequences (JAX, single process)."""
from absl import app, flags, logging
import jax
import jax.numpy as jnp
import numpy as np
import optax

FLAGS = flags.FLAGS
flags.DEFINE_integer("layers", 2, "blocks")
flags.DEFINE_integer("dim", 64, "width")
flags.DEFINE_integer("batch", 4, "sequences a batch")
AA = 25


def init(key, n, d):
    ks = iter(jax.random.split(key, 6 * n + 3))
    g = lambda *s: jax.random.normal(next(ks), s) * 0.05
    return dict(
        emb=g(AA, d),
        out=g(d, AA),
        blocks=[dict(q=g(d, d), k=g(d, d), v=g(d, d), o=g(d, d), a=g(d, 4 * d), b=g(4 * d, d)) for _ in range(n)],
    )


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)


def apply(p, x):
    h = p["emb"][x]
    for blk in p["blocks"]:
        u = norm(h)
        att = jax.nn.softmax(jnp.einsum("bid,bjd->bij", u @ blk["q"], u @ blk["k"]) / 8.0)
        h = h + (att @ (u @ blk["v"])) @ blk["o"]
        h = h + jax.nn.gelu(norm(h) @ blk["a"]) @ blk["b"]
    return h @ p["out"]


def loss_fn(p, x, y, m):
    ce = optax.softmax_cross_entropy_with_integer_labels(apply(p, x), y)
    return (ce * m).sum() / m.sum()


def batches(rng, n):
    # neighbours of about the same length, cut to the shortest one
    while True:
        length = int(np.clip(rng.gamma(2.2, 70.0), 30, 400))
        seq = rng.choice(20, size=(n, length), p=np.r_[np.full(5, 0.12), np.full(15, 0.4 / 15)])
        mask = rng.random((n, length)) < 0.15
        yield np.where(mask, 24, seq), seq, mask.astype(np.float32)


def main(_):
    p = init(jax.random.PRNGKey(0), FLAGS.layers, FLAGS.dim)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4))
    st = tx.init(p)

    @jax.jit
    def update(p, st, x, y, m):
        l, g = jax.value_and_grad(loss_fn)(p, x, y, m)
        up, st = tx.update(g, st, p)
        return optax.apply_updates(p, up), st, l

    avg = []
    for i, (x, y, m) in enumerate(batches(np.random.default_rng(1), FLAGS.batch), 1):
        p, st, l = update(p, st, x, y, m)
        avg.append(float(l))
        if i % 2 == 0:
            logging.info("step=%d xent=%.4f residues=%d", i, np.mean(avg[-20:]), x.size)


if __name__ == "__main__":
    logging.set_verbosity(logging.INFO)
    app.run(main)
