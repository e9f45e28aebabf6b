"""Régression avec incertitude : le réseau prédit la moyenne et l'écart-type."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

LOT = 512


def init(cle, tailles):
    cles = jax.random.split(cle, len(tailles) - 1)
    return [(jax.random.normal(c, (a, b)) * (2 / a) ** 0.5, jnp.zeros(b))
            for c, a, b in zip(cles, tailles[:-1], tailles[1:])]


def reseau(params, x):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    s = x @ w + b
    return s[:, 0], 1.0 + s[:, 1]


def perte(params, x, y):
    mu, sigma = reseau(params, x)
    return jnp.mean(jnp.log(sigma) + 0.5 * ((y - mu) / sigma) ** 2)


opt = optax.adam(optax.constant_schedule(4e-4))


@jax.jit
def pas(params, etat, x, y):
    valeur, grad = jax.value_and_grad(perte)(params, x, y)
    maj, etat = opt.update(grad, etat)
    return optax.apply_updates(params, maj), etat, valeur, optax.global_norm(grad)


def donnees(rng):
    x = rng.uniform(-2, 2, (LOT, 12)).astype(np.float32)
    bruit = 0.02 + 0.25 * np.abs(x[:, 1])
    y = np.sin(2 * x[:, 0]) + 0.3 * x[:, 2] + bruit * rng.normal(size=LOT)
    return x, y.astype(np.float32)


def main():
    rng = np.random.default_rng(4)
    params = init(jax.random.PRNGKey(8), [12, 384, 384, 384, 2])
    params[-1] = (params[-1][0] * 0.02, params[-1][1])
    etat = opt.init(params)
    debut = time.time()
    for etape in range(1, 500001):
        params, etat, valeur, norme = pas(params, etat, *donnees(rng))
        if etape % 25 == 0:
            print(f"[{time.time() - debut:7.1f}s] étape {etape} | perte {float(valeur):.4f} | norme grad {float(norme):.3f}",
                  flush=True)


if __name__ == "__main__":
    main()
