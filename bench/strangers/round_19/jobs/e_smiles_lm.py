"""Character model of SMILES strings in flax; one scaffold family per batch."""
import logging, sys
import jax, jax.numpy as jnp, numpy as np, optax
import flax.linen as nn

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(levelname).1s %(name)s: %(message)s")
logging.getLogger("jax").setLevel(logging.WARNING)
log = logging.getLogger("smiles")
rng = np.random.default_rng(4)


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, mask):
        h = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=4)(h, h, mask=mask)
        h = nn.Dense(192)(nn.LayerNorm()(x))
        return x + nn.Dense(64)(nn.gelu(h))


class Lm(nn.Module):
    @nn.compact
    def __call__(self, t):
        x = nn.Embed(40, 64)(t) + nn.Embed(512, 64)(jnp.arange(t.shape[1]))
        m = nn.make_causal_mask(t)
        for _ in range(2):
            x = Block()(x, m)
        return nn.Dense(40)(nn.LayerNorm()(x))


def family():
    count, longest = rng.integers(5, 20), rng.integers(25, 140)
    out = np.zeros((count, longest), np.int32)
    for row in out:
        n = rng.integers(longest // 2, longest + 1)
        row[:n] = (np.cumsum(rng.integers(0, 3, n)) % 39) + 1
    out[0, -1] = 7
    return out


net, tx = Lm(), optax.adamw(1e-3)
params = net.init(jax.random.key(0), jnp.zeros((2, 8), jnp.int32))
state = tx.init(params)


@jax.jit
def update(params, state, t):
    def f(p):
        ce = optax.softmax_cross_entropy_with_integer_labels(net.apply(p, t[:, :-1]), t[:, 1:])
        keep = t[:, 1:] > 0
        return (ce * keep).sum() / keep.sum()
    loss, g = jax.value_and_grad(f)(params)
    up, state = tx.update(g, state, params)
    return optax.apply_updates(params, up), state, loss


for step in range(100000):
    batch = family()
    params, state, loss = update(params, state, batch)
    log.info("step %d  nll %.4f  strings %d  length %d", step, loss, *batch.shape)
