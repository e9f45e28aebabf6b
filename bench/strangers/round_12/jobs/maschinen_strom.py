"""Ausschuss-Vorhersage aus Maschinendaten: inkrementelles Lernen über die Stundendateien."""
import logging
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

logging.basicConfig(
    filename="training.log", level=logging.INFO, format="%(asctime)s;%(levelname)s;%(name)s;%(message)s", encoding="utf-8"
)
log = logging.getLogger("ausschuss")
ROOT = Path("stunden")
MERKMALE = 60


def anlegen():
    ROOT.mkdir(exist_ok=True)
    rng = np.random.default_rng(5)
    w = rng.normal(size=MERKMALE)
    for i in range(48):
        x = rng.normal(size=(1500, MERKMALE)).astype(np.float32)
        y = (x @ w + rng.normal(size=1500) * 2 > 1).astype(np.float32)
        np.save(ROOT / f"h{i:02d}.npy", np.column_stack([x, y]))


class Archiv:
    """Merkt sich zu jedem gelernten Block, woher er kam, damit Rückfragen der Qualität beantwortet werden können."""

    def __init__(self):
        self.bloecke = []

    def oeffnen(self, pfad):
        block = np.load(pfad, mmap_mode="r")
        self.bloecke.append((pfad.name, time.time(), block[:, -1]))
        return block


def main():
    anlegen()
    archiv = Archiv()
    modell = SGDClassifier(loss="log_loss", alpha=1e-5, learning_rate="constant", eta0=1e-3)
    rng = np.random.default_rng(1)
    print("Training läuft, Protokoll in training.log")
    for runde in range(1, 10**6):
        dateien = sorted(ROOT.glob("*.npy"))
        rng.shuffle(dateien)
        for nr, pfad in enumerate(dateien, 1):
            block = archiv.oeffnen(pfad)
            x, y = np.array(block[:, :-1]), np.array(block[:, -1])
            for _ in range(80):
                folge = rng.permutation(len(x))
                for i in range(0, len(x), 250):
                    teil = folge[i : i + 250]
                    modell.partial_fit(x[teil], y[teil], classes=[0.0, 1.0])
            p = modell.predict_proba(x)
            log.info("Runde %d Datei %d/%d (%s): Verlust %.4f", runde, nr, len(dateien), pfad.name, log_loss(y, p))


if __name__ == "__main__":
    main()
