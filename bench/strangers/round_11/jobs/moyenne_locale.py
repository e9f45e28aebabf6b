"""Descente locale avec moyenne des poids par fichiers partagés (pas de MPI sur cette machine)."""
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

DOSSIER = Path("echange")
NB = 3


def attendre(chemin):
    while not chemin.exists():
        time.sleep(0.02)
    return np.load(chemin)


def ouvrier():
    rang = int(os.environ["RANK"])
    gen = np.random.default_rng(rang)
    vrai = np.random.default_rng(99).normal(size=(300, 1))
    w = np.zeros((300, 1))
    journal = open(f"ouvrier_{rang}.log", "a", buffering=1)
    for tour in range(1, 100000):
        for _ in range(12):
            x = gen.normal(size=(256, 300))
            y = x @ vrai + gen.normal(size=(256, 1)) * 0.5
            err = x @ w - y
            w -= 0.005 * x.T @ err / len(x)
        np.save(DOSSIER / f"tmp_{rang}.npy", w)
        os.replace(DOSSIER / f"tmp_{rang}.npy", DOSSIER / f"t{tour}_r{rang}.npy")
        w = np.mean([attendre(DOSSIER / f"t{tour}_r{r}.npy") for r in range(NB)], axis=0)
        if tour > 3:
            (DOSSIER / f"t{tour - 3}_r{rang}.npy").unlink(missing_ok=True)
        journal.write(f"{time.strftime('%H:%M:%S')} tour {tour} perte {float((err ** 2).mean()):.5f}\n")
        if rang == 0 and tour % 5 == 0:
            print(f"tour {tour}: perte moyenne {float((err ** 2).mean()):.5f}", flush=True)
        time.sleep(0.08)


def main():
    DOSSIER.mkdir(exist_ok=True)
    procs = [
        subprocess.Popen([sys.executable, __file__], env={**os.environ, "RANK": str(r), "WORLD_SIZE": str(NB)})
        for r in range(NB)
    ]
    for p in procs:
        p.wait()


if __name__ == "__main__":
    ouvrier() if "RANK" in os.environ else main()
