"""タンパク質配列の二次構造予測 (JAX)"""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

文字, クラス, 隠れ = 21, 8, 64
トークン上限 = 1800


def 初期化(key):
    k = jax.random.split(key, 4)
    return {
        "emb": jax.random.normal(k[0], (文字, 隠れ)) * 0.1,
        "wx": jax.random.normal(k[1], (隠れ, 隠れ)) * 0.1,
        "wh": jax.random.normal(k[2], (隠れ, 隠れ)) * 0.1,
        "out": jax.random.normal(k[3], (2 * 隠れ, クラス)) * 0.1,
    }


def 順方向(p, x):
    e = p["emb"][x]

    def cell(h, v):
        h = jnp.tanh(v @ p["wx"] + h @ p["wh"])
        return h, h

    h0 = jnp.zeros((x.shape[0], 隠れ))
    _, f = jax.lax.scan(cell, h0, e.swapaxes(0, 1))
    _, b = jax.lax.scan(cell, h0, e.swapaxes(0, 1), reverse=True)
    return jnp.concatenate([f, b], -1).swapaxes(0, 1) @ p["out"]


opt = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))


@jax.jit
def 学習ステップ(p, s, x, y):
    def 損失(p):
        return optax.softmax_cross_entropy_with_integer_labels(順方向(p, x), y).mean()

    l, g = jax.value_and_grad(損失)(p)
    u, s = opt.update(g, s)
    return optax.apply_updates(p, u), s, l


def バッチ(gen):
    while True:
        n = int(np.clip(gen.lognormal(5.0, 0.6), 30, 800))
        b = max(1, トークン上限 // n)
        x = gen.integers(0, 文字, (b, n))
        yield x, (x + np.roll(x, 1, 1)) % クラス


p = 初期化(jax.random.PRNGKey(0))
s = opt.init(p)
開始 = time.time()
for i, (x, y) in enumerate(バッチ(np.random.default_rng(4)), 1):
    p, s, l = 学習ステップ(p, s, x, y)
    if i % 5 == 0:
        print(f"反復 {i:6d}  損失 {float(l):.4f}  経過 {time.time() - 開始:.1f}秒", flush=True)
