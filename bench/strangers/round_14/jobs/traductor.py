# Entrenamiento de un modelo secuencia -> etiqueta (quechua/castellano), en JAX
import time
import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCAB, DIM, CAPAS = 800, 48, 2
MAX_TOKENS = 3000
rng = np.random.default_rng(1)


def iniciar(key):
    ks = jax.random.split(key, 2 + 4 * CAPAS)
    p = {"emb": jax.random.normal(ks[0], (VOCAB, DIM)) * 0.05, "sal": jax.random.normal(ks[1], (DIM, 10)) * 0.05}
    for i in range(CAPAS):
        for j, n in enumerate(("q", "k", "v", "o")):
            p[f"{n}{i}"] = jax.random.normal(ks[2 + 4 * i + j], (DIM, DIM)) * DIM ** -0.5
    return p


def perdida(p, x, y):
    h = p["emb"][x]
    for i in range(CAPAS):
        q, k, v = h @ p[f"q{i}"], h @ p[f"k{i}"], h @ p[f"v{i}"]
        a = jax.nn.softmax(q @ k.swapaxes(-1, -2) / DIM ** 0.5)
        h = h + jax.nn.gelu(a @ v) @ p[f"o{i}"]
        h = (h - h.mean(-1, keepdims=True)) / (h.std(-1, keepdims=True) + 1e-5)
    return optax.softmax_cross_entropy_with_integer_labels(h.mean(1) @ p["sal"], y).mean()


opt = optax.adam(3e-4)


@jax.jit
def paso(p, s, x, y):
    l, g = jax.value_and_grad(perdida)(p, x, y)
    u, s = opt.update(g, s)
    return optax.apply_updates(p, u), s, l


def lotes():
    while True:
        largo = int(rng.integers(20, 700))          # se rellena hasta la frase mas larga del lote
        n = max(4, MAX_TOKENS // largo // 2)
        y = rng.integers(0, 10, n)
        x = rng.integers(0, VOCAB, (n, largo))
        m = rng.random((n, largo)) < 0.15
        x = np.where(m, y[:, None] * 7 + 3, x)
        yield x, y


p = iniciar(jax.random.PRNGKey(0))
s = opt.init(p)
print("Parámetros:", sum(v.size for v in p.values()))
t0 = time.time()
for it, (x, y) in enumerate(lotes(), 1):
    p, s, l = paso(p, s, jnp.asarray(x), jnp.asarray(y))
    if it % 2 == 0:
        print(f"iter {it:5d}  pérdida {float(l):.4f}  frases/lote {len(x)}  {2 / (time.time() - t0):.2f} it/s")
        t0 = time.time()
    if it % 25 == 0:
        jax.clear_caches()      # si no, se come la RAM del portátil
