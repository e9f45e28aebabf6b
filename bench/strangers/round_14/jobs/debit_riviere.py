"""Prévision de débit (JAX, optax). Suivi dans suivi.csv."""
import csv
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

rng = np.random.default_rng(7)
JOURS = 1200


def jour(j):
    pluie = rng.gamma(2.0, 1.0, (512, 30)).astype("f4")
    debit = (pluie * np.exp(-np.arange(30) / 6.0)).sum(1) + rng.normal(0, 0.3, 512)
    if j == 260:
        pluie[17, 4] = -999.0  # valeur manquante du pluviomètre
    return jnp.log1p(pluie), jnp.asarray(debit, jnp.float32)


def init(cle, tailles=(30, 128, 128, 1)):
    cles = jax.random.split(cle, len(tailles) - 1)
    return [(jax.random.normal(k, (a, b)) * np.sqrt(2 / a), jnp.zeros(b)) for k, a, b in zip(cles, tailles[:-1], tailles[1:])]


def reseau(p, x):
    for w, b in p[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = p[-1]
    return (x @ w + b)[:, 0]


def perte(p, x, y):
    return jnp.mean((reseau(p, x) - y) ** 2)


opt = optax.adam(1e-3)
params = init(jax.random.key(0))
etat = opt.init(params)


@jax.jit
def pas(params, etat, x, y):
    l, g = jax.value_and_grad(perte)(params, x, y)
    maj, etat = opt.update(g, etat)
    return optax.apply_updates(params, maj), etat, l


fichier = open("suivi.csv", "w", newline="")
ecrire = csv.writer(fichier)
ecrire.writerow(["jour", "loss", "duree_s"])
for j in range(1, JOURS * 5):
    debut = time.time()
    x, y = jour(j)
    total = 0.0
    for _ in range(80):
        i = rng.integers(0, 512, 128)
        params, etat, l = pas(params, etat, x[i], y[i])
        total += float(l)
    ecrire.writerow([j, f"{total / 80:.5f}", f"{time.time() - debut:.3f}"])
    fichier.flush()
    if j % 20 == 0:
        print(f"jour {j}: perte moyenne {total / 80:.4f}", flush=True)
