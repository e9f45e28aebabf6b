"""Prévision de paniers d'achat : GRU en JAX, lots de paniers de tailles réelles (pas de remplissage inutile)."""
import csv
import functools
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

PRODUITS, H = 600, 48
tirage = np.random.default_rng(12)


def parametres():
    k = jax.random.split(jax.random.PRNGKey(0), 5)
    return {
        "e": jax.random.normal(k[0], (PRODUITS, H)) * 0.1,
        "z": jax.random.normal(k[1], (2 * H, H)) * 0.1,
        "c": jax.random.normal(k[2], (2 * H, H)) * 0.1,
        "o": jax.random.normal(k[3], (H, PRODUITS)) * 0.1,
    }


def perte(p, paniers):
    x = p["e"][paniers]

    def pas(h, xt):
        z = jax.nn.sigmoid(jnp.concatenate([xt, h], -1) @ p["z"])
        c = jnp.tanh(jnp.concatenate([xt, h], -1) @ p["c"])
        h = (1 - z) * h + z * c
        return h, h

    _, hs = jax.lax.scan(pas, jnp.zeros((x.shape[0], H)), x[:, :-1].swapaxes(0, 1))
    logits = hs.swapaxes(0, 1) @ p["o"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, paniers[:, 1:]).mean()


opt = optax.adam(2e-3)


@functools.partial(jax.jit)
def etape(p, s, paniers):
    v, g = jax.value_and_grad(perte)(p, paniers)
    m, s = opt.update(g, s)
    return optax.apply_updates(p, m), s, v


def lot():
    taille = int(tirage.integers(8, 64))
    longueur = int(tirage.integers(5, 90))
    base = tirage.integers(0, PRODUITS, (taille, 1))
    return jnp.asarray((base + tirage.integers(0, 9, (taille, longueur)).cumsum(1)) % PRODUITS)


def main():
    p = parametres()
    s = opt.init(p)
    with open("journal.csv", "w", newline="") as f:
        w = csv.writer(f, delimiter=";")
        w.writerow(["etape", "perte", "paniers_par_s"])
        for i in range(10**6):
            t = time.perf_counter()
            x = lot()
            p, s, v = etape(p, s, x)
            v = float(v)
            w.writerow([i, f"{v:.4f}", f"{len(x) / (time.perf_counter() - t):.1f}"])
            f.flush()


if __name__ == "__main__":
    main()
