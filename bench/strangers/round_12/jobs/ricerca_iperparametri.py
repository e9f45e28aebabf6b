"""Ricerca casuale di iperparametri, due processi, ogni prova dura da uno a molti secondi."""
import csv
import os
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait

import numpy as np


def prova(numero, cfg):
    import warnings

    from sklearn.datasets import make_moons
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import cross_val_score
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    warnings.simplefilter("ignore", ConvergenceWarning)
    t = time.time()
    x, y = make_moons(3000, noise=0.3, random_state=0)
    rete = MLPClassifier((cfg["unita"],) * cfg["strati"], alpha=cfg["alpha"], learning_rate_init=cfg["lr"], max_iter=cfg["epoche"], random_state=numero)
    modello = make_pipeline(PolynomialFeatures(3), StandardScaler(), rete)
    return numero, cfg, float(cross_val_score(modello, x, y, cv=3).mean()), time.time() - t


def estrai(rng):
    return {
        "unita": int(rng.choice([16, 32, 64, 128])),
        "strati": int(rng.integers(1, 4)),
        "alpha": float(10 ** rng.uniform(-6, -1)),
        "lr": float(10 ** rng.uniform(-4, -2)),
        "epoche": int(rng.integers(15, 60)),
    }


if __name__ == "__main__":
    rng = np.random.default_rng(4)
    meglio = 0.0
    with open("prove.csv", "w", newline="") as f, ProcessPoolExecutor(2) as pool:
        tab = csv.writer(f)
        tab.writerow(["prova", "accuratezza", "secondi", "configurazione"])
        attive = {pool.submit(prova, i, estrai(rng)) for i in range(3)}
        prossimo = 3
        while True:
            fatte, attive = wait(attive, return_when=FIRST_COMPLETED)
            for r in fatte:
                n, cfg, acc, sec = r.result()
                tab.writerow([n, f"{acc:.4f}", f"{sec:.1f}", cfg])
                f.flush()
                segno = " *" if acc > meglio else ""
                meglio = max(meglio, acc)
                print(f"prova {n}: accuratezza {acc:.4f} in {sec:.1f}s{segno}")
                attive.add(pool.submit(prova, prossimo, estrai(rng)))
                prossimo += 1
