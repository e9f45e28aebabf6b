"""Valutazione di una politica su dati registrati (TD, approssimazione lineare)."""
import csv
import time

import numpy as np

GAMMA, ALFA = 0.99, 0.004
STATI = 7


def caratteristiche():
    phi = np.zeros((STATI, 8))
    for s in range(6):
        phi[s, s], phi[s, 7] = 2, 1
    phi[6, 6], phi[6, 7] = 1, 2
    return phi


def main():
    gen = np.random.default_rng(4)
    base = caratteristiche()
    sensori = gen.normal(size=(8, 400)) / 20
    w = np.ones(8)
    w[6] = 10
    w *= 0.05
    inizio = time.time()
    with open("andamento.csv", "w", buffering=1) as f:
        tab = csv.writer(f)
        tab.writerow(["passo", "perdita", "norma_pesi", "secondi"])
        for passo in range(1, 10_000_000):
            s = gen.integers(0, STATI, 512)
            grezzi = base[s] @ sensori + gen.normal(size=(512, 400)) * 0.01
            _ = np.linalg.norm(grezzi, axis=1).mean()
            x, xp = base[s], np.repeat(base[6:], 512, 0)
            premio = gen.normal(size=512) * 0.05
            delta = premio + GAMMA * xp @ w - x @ w
            w = w + ALFA * (x * delta[:, None]).mean(0)
            time.sleep(0.02)
            if passo % 20 == 0:
                tab.writerow([passo, f"{(delta ** 2).mean():.6g}", f"{np.linalg.norm(w):.6g}", f"{time.time() - inizio:.1f}"])
            if passo % 100 == 0:
                print(f"passo {passo} perdita={(delta ** 2).mean():.6g}")


if __name__ == "__main__":
    main()
