"""Model przewidywania klikniec, uczenie przyrostowe po paczkach z dysku."""
import logging
from pathlib import Path

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(levelname)s | %(message)s")
log = logging.getLogger("ctr")
KATALOG = Path("paczki")
ILE, CECHY, WIERSZE = 1400, 60, 250
POWT = 300


class Magazyn:
    """Leniwy dostep do paczek; otwarte paczki trzymamy, bo wracamy do nich w kolejnych przebiegach."""

    def __init__(self, katalog):
        self.katalog = katalog
        self.otwarte = {}

    def paczka(self, nr):
        if nr not in self.otwarte:
            self.otwarte[nr] = np.load(self.katalog / f"p{nr:05d}.npz")
        z = self.otwarte[nr]
        return z["x"], z["y"]


def zapisz(nr, wagi):
    gen = np.random.default_rng(nr)
    x = gen.normal(size=(WIERSZE, CECHY)).astype("float32")
    y = (x @ wagi + gen.normal(size=WIERSZE) > 0).astype("int8")
    np.savez(KATALOG / f"p{nr:05d}.npz", x=x, y=y)


def main():
    KATALOG.mkdir(exist_ok=True)
    wagi = np.random.default_rng(99).normal(size=CECHY)
    for nr in range(ILE):
        zapisz(nr, wagi)
    log.info("przygotowano %d paczek", ILE)
    magazyn = Magazyn(KATALOG)
    walidacja = [magazyn.paczka(nr) for nr in range(150)]
    xv, yv = np.concatenate([a for a, _ in walidacja[:10]]), np.concatenate([b for _, b in walidacja[:10]])
    model = SGDClassifier(loss="log_loss", alpha=1e-5, random_state=0)
    for przebieg in range(20):
        for nr in range(150, ILE):
            x, y = magazyn.paczka(nr)
            for _ in range(POWT):
                i = np.random.permutation(len(x))
                model.partial_fit(x[i], y[i], classes=[0, 1])
            if nr % 10 == 0:
                log.info("przebieg %d, paczka %d, logloss %.4f", przebieg, nr, log_loss(yv, model.predict_proba(xv)))


if __name__ == "__main__":
    main()
