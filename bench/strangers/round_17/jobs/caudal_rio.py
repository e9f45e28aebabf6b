"""Predicción del caudal a 24 h (flax + optax). Una línea JSON por intervalo."""
import json
import signal
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

signal.alarm(300)
DURACION = 185


class Caudal(nn.Module):
    """Base de Fourier fija y salida lineal."""

    rasgos: int = 2048

    @nn.compact
    def __call__(self, x):
        w = jax.random.normal(jax.random.PRNGKey(1), (x.shape[1], self.rasgos)) * 0.15
        fase = jax.random.uniform(jax.random.PRNGKey(2), (self.rasgos,), maxval=6.2832)
        base = jnp.cos(x @ w + fase) * jnp.sqrt(2 / self.rasgos)
        return nn.Dense(1)(base)[:, 0]


def lluvia(rng, n):
    x = rng.gamma(1.5, 1.0, size=(n, 24)).astype(np.float32)
    pesos = np.exp(-np.arange(24) / 6.0).astype(np.float32)
    y = x @ pesos + 0.3 * np.sin(x.sum(1)) + 0.1 * rng.normal(size=n)
    return x, y.astype(np.float32)


@jax.jit
def paso(estado, x, y):
    def perdida(p):
        return jnp.mean((estado.apply_fn(p, x) - y) ** 2)

    valor, grad = jax.value_and_grad(perdida)(estado.params)
    return estado.apply_gradients(grads=grad), valor, optax.global_norm(grad)


def main():
    rng = np.random.default_rng(4)
    x_todo, y_todo = lluvia(rng, 60_000)
    red = Caudal()
    parametros = red.init(jax.random.PRNGKey(0), jnp.zeros((1, 24)))
    tasa = optax.exponential_decay(0.05, transition_steps=20, decay_rate=1.06, staircase=True)
    estado = train_state.TrainState.create(apply_fn=red.apply, params=parametros, tx=optax.adam(tasa))
    inicio = time.time()
    n = 0
    while time.time() - inicio < DURACION:
        elegidos = rng.integers(0, len(y_todo), 1024)
        x, y = x_todo[elegidos], y_todo[elegidos]
        estado, valor, norma = paso(estado, x, y)
        n += 1
        if n % 20 == 0:
            print(json.dumps({"paso": n, "perdida": round(float(valor), 5), "lr": round(float(tasa(n)), 7),
                              "norma_grad": round(float(norma), 4), "t": round(time.time() - inicio, 1)}), flush=True)


main()
