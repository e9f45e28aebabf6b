"""Previsão de demanda: rede pequena em numpy, números com vírgula como no resto dos relatórios."""

import sys
import time

import numpy as np

sorteio = np.random.default_rng(8)
X = sorteio.normal(size=(3000, 12))
alvo = np.exp(0.3 * X[:, 0]) + 0.2 * X[:, 1] ** 2 + 1
W1 = 0.3 * sorteio.normal(size=(12, 32))
W2 = 0.1 * sorteio.normal(size=32)
vies = 1.0


def virgula(x, casas=4):
    return f"{x:.{casas}f}".replace(".", ",")


for passo in range(1, 10**6):
    i = sorteio.integers(0, 3000, 64)
    h = np.tanh(X[i] @ W1)
    saida = h @ W2 + vies
    y = alvo[i].copy()
    if passo == 120:
        y[0] = -1.5  # devolução lançada como venda negativa
    with np.errstate(all="ignore"):
        dif = np.log(np.maximum(saida, 0.1)) - np.log(y)
    custo = (dif**2).mean()
    d = dif * (saida > 0.1) / np.maximum(saida, 0.1) / 64
    W1 -= 0.02 * X[i].T @ (np.outer(d, W2) * (1 - h * h))
    W2 -= 0.02 * h.T @ d
    vies -= 0.02 * d.sum()
    time.sleep(0.1)
    if passo % 5 == 0:
        sys.stdout.write(f"passo {passo} | custo {virgula(custo)} | viés {virgula(vies)}\n")
        sys.stdout.flush()
