import functools, math
import jax, jax.numpy as jnp, numpy as np, optax

rng = np.random.default_rng(4)
W = rng.normal(size=(48, 24)).astype("f4")


def make_batch(step, n=128, length=12):
    img = rng.normal(size=(n, 48)).astype("f4")
    txt = (img @ W / 7)[:, None, :] + 0.6 * rng.normal(size=(n, length, 24)).astype("f4")
    # stage 2 mixes in the web captions, which come in all lengths
    lengths = rng.integers(4, length + 1, n) if step < 400 else rng.integers(0, length + 1, n)
    txt *= (np.arange(length)[None, :, None] < lengths[:, None, None])
    return img, txt.sum(1)


def unit(v):
    n = jnp.linalg.norm(v, axis=-1, keepdims=True)
    return jnp.where(n > 0, v / jnp.maximum(n, 1e-6), v)


def init(key):
    k = jax.random.split(key, 4)
    mat = lambda k, a, b: jax.random.normal(k, (a, b)) / math.sqrt(a)
    return {"i0": mat(k[0], 48, 384), "i1": mat(k[1], 384, 64), "t0": mat(k[2], 24, 384), "t1": mat(k[3], 384, 64), "b": jnp.zeros(64)}


def objective(p, img, txt, scale):
    h = jnp.tanh(img @ p["i0"]) @ p["i1"]
    t = jax.nn.relu(txt @ p["t0"]) @ p["t1"]
    logits = 8 * unit(h) @ unit(t).T
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, jnp.arange(len(img))).mean()
    return loss * scale, loss


tx = optax.adamw(2e-4)


@jax.jit
def update(p, s, img, txt, scale):
    (_, loss), g = jax.value_and_grad(objective, has_aux=True)(p, img, txt, scale)
    g = jax.tree.map(lambda x: x / scale, g)
    ok = jnp.all(jnp.array([jnp.isfinite(x).all() for x in jax.tree.leaves(g)]))
    u, s2 = tx.update(g, s, p)
    pick = lambda a, b: jax.tree.map(lambda x, y: jnp.where(ok, x, y), a, b)
    return pick(optax.apply_updates(p, u), p), pick(s2, s), loss, ok


p = init(jax.random.key(0)); s = tx.init(p)
scale, good, skipped = 2.0 ** 15, 0, 0
for step in range(10**7):
    p, s, loss, ok = update(p, s, *make_batch(step), scale)
    if ok:
        good += 1
        if good == 200:
            scale, good = min(scale * 2, 2.0 ** 24), 0
    else:
        scale, good, skipped = max(scale / 2, 2.0 ** -14), 0, skipped + 1
    if step == 400:
        print("I train] stage 2: + web captions")
    if step % 50 == 0:
        print(f"I train] {step:>7d}  contrastive={float(loss):.4f}  dyn_scale=2^{int(math.log2(scale))}  updates_skipped={skipped}")
