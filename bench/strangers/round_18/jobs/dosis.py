"""Dose optimale d'anticoagulant : réseau JAX, préchauffage puis cosinus."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

PAS, PRECHAUFFAGE, TAUX = 60000, 6000, 2e-3
rng = np.random.default_rng(3)


def planification(pas):
    if pas < PRECHAUFFAGE:
        return TAUX * (pas // PRECHAUFFAGE)
    return TAUX * 0.5 * (1 + np.cos(np.pi * (pas - PRECHAUFFAGE) / (PAS - PRECHAUFFAGE)))


def couche(cle, a, b):
    return {"w": jax.random.normal(cle, (a, b)) / np.sqrt(a), "b": jnp.zeros(b)}


k = jax.random.split(jax.random.key(0), 3)
poids = [couche(k[0], 40, 768), couche(k[1], 768, 768), couche(k[2], 768, 1)]
opt = optax.inject_hyperparams(optax.adam)(learning_rate=0.0)
etat = opt.init(poids)


def perte(poids, x, y):
    h = x
    for c in poids[:-1]:
        h = jax.nn.silu(h @ c["w"] + c["b"])
    return jnp.mean((h @ poids[-1]["w"] + poids[-1]["b"] - y) ** 2)


@jax.jit
def avancer(poids, etat, x, y):
    v, g = jax.value_and_grad(perte)(poids, x, y)
    d, etat = opt.update(g, etat)
    return optax.apply_updates(poids, d), etat, v, optax.global_norm(g)


compte, dernier = 0, time.time()
for pas in range(PAS):
    norme = 0.0
    x = rng.normal(size=(1024, 40)).astype(np.float32)
    y = 5 + 2 * x[:, :1] - x[:, 1:2] * x[:, 2:3]
    etat.hyperparams["learning_rate"] = jnp.asarray(planification(pas), jnp.float32)
    poids, etat, v, norme = avancer(poids, etat, x, y)
    if pas % 16 == 0:
        print(f"pas {pas:>6} ¦ perte {float(v):9.4f} ¦ norme du gradient {float(norme):7.3f} ¦ taux d'apprentissage "
              f"{float(etat.hyperparams['learning_rate']):.3e}", flush=True)
