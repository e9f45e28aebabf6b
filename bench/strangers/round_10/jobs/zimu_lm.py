"""字符级语言模型（JAX）。"""
import logging
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s: %(message)s")
log = logging.getLogger("训练")
log.setLevel(logging.INFO)
D, V, LAYERS = 64, 80, 1


def init(key):
    ks = jax.random.split(key, 2 + 6 * LAYERS)
    n = lambda k, *s: jax.random.normal(k, s) * 0.05
    return {"e": n(ks[0], V, D), "o": n(ks[1], D, V),
            "l": [{"q": n(ks[2 + 6 * i], D, D), "k": n(ks[3 + 6 * i], D, D), "v": n(ks[4 + 6 * i], D, D), "p": n(ks[5 + 6 * i], D, D),
                   "a": n(ks[6 + 6 * i], D, 4 * D), "b": n(ks[7 + 6 * i], 4 * D, D)} for i in range(LAYERS)]}


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)


def forward(w, x):
    h = w["e"][x] + jnp.sin(jnp.arange(x.shape[1])[:, None] / (1.0 + jnp.arange(D)))
    mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1])))
    for l in w["l"]:
        n = norm(h)
        s = jnp.where(mask, (n @ l["q"]) @ (n @ l["k"]).transpose(0, 2, 1) / D**0.5, -1e9)
        h = h + jax.nn.softmax(s) @ (n @ l["v"]) @ l["p"]
        h = h + jax.nn.gelu(norm(h) @ l["a"]) @ l["b"]
    return norm(h) @ w["o"]


opt = optax.adamw(1e-3)


@jax.jit
def step(w, st, x):
    def loss_fn(w):
        return optax.softmax_cross_entropy_with_integer_labels(forward(w, x[:, :-1]), x[:, 1:]).mean()

    loss, g = jax.value_and_grad(loss_fn)(w)
    up, st = opt.update(g, st, w)
    return optax.apply_updates(w, up), st, loss


rng = np.random.default_rng(0)
trans = rng.dirichlet(np.ones(V) * 0.05, V)
cum = trans.cumsum(1)


def batch():
    """一批句子，截到其中最短的长度。"""
    n = int(rng.integers(20, 600))
    x = np.zeros((4, n), np.int32)
    for t in range(1, n):
        x[:, t] = np.minimum((rng.random((4, 1)) > cum[x[:, t - 1]]).sum(1), V - 1)
    return x


w = init(jax.random.PRNGKey(0))
st = opt.init(w)
t0 = time.time()
for i in range(1, 20001):
    x = batch()
    w, st, loss = step(w, st, x)
    if i % 5 == 0:
        log.info("第%d步 损失=%.4f 长度=%d 用时=%.1f秒", i, float(loss), x.shape[1], time.time() - t0)
