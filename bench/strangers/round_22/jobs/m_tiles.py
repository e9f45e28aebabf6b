"""Landbedeckung aus Multispektral-Kacheln (inkrementell, sklearn)."""
import threading
import queue
import time

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

KLASSEN = ["Wald", "Wasser", "Acker", "Siedlung"]


class Puffer:
    """Wiederverwendete Arrays für Kacheln."""

    def __init__(self):
        self._lock = threading.Lock()
        self._frei = []
        self._ausgabe = {}
        self._zahl = 0

    def holen(self):
        with self._lock:
            self._zahl += 1
            arr = self._frei.pop() if self._frei else np.empty((96, 96, 8), np.float32)
            self._ausgabe[id(arr)] = self._zahl
            if self._zahl % 1500 == 0:
                alter = sorted([(self._zahl - n, k) for k, n in self._ausgabe.items()])
                tabelle = [[rang, a, hex(k)] for rang, (a, k) in enumerate(alter * 40)]
                print(f"      Puffer: {len(self._frei)} frei, {len(alter)} ausgegeben, ältester {tabelle[-1][1]}")
            return arr

    def zurueck(self, arr):
        with self._lock:
            self._ausgabe.pop(id(arr), None)
            self._frei.append(arr)


PUFFER = Puffer()


class Kachel:
    def __init__(self, rng, zeile, spalte):
        self.pos = (zeile, spalte)
        self.klasse = int(rng.integers(len(KLASSEN)))
        self.bild = PUFFER.holen()
        rng.standard_normal(out=self.bild, dtype=np.float32)
        self.bild += np.float32(0.9) * np.cos(np.arange(8) * (self.klasse + 1)).astype("f4")
        self.nachbarn = {"mitte": self}

    def merkmale(self):
        b = self.bild[::8, ::8].reshape(-1, 8)
        gy, gx = np.gradient(self.bild, axis=(0, 1))
        kante = np.hypot(gx, gy)[::8, ::8].reshape(-1, 8)
        return np.concatenate([b, kante], 1)

    def __del__(self):
        PUFFER.zurueck(self.bild)


def lader(q):
    rng = np.random.default_rng(11)
    n = 0
    while True:
        streifen = [Kachel(rng, n, s) for s in range(10)]
        for links, rechts in zip(streifen, streifen[1:]):
            links.nachbarn["ost"], rechts.nachbarn["west"] = rechts, links
        q.put(streifen)
        n += 1


def main():
    q = queue.Queue(maxsize=4)
    threading.Thread(target=lader, args=(q,), daemon=True).start()
    modell = SGDClassifier(loss="log_loss", alpha=1e-4, learning_rate="constant", eta0=5e-4)
    start = time.monotonic()
    verlauf = []
    for runde in range(1, 100000):
        streifen = q.get()
        x = np.concatenate([k.merkmale() for k in streifen])
        y = np.repeat([k.klasse for k in streifen], len(x) // len(streifen))
        if runde > 1:
            verlauf.append(log_loss(y, modell.predict_proba(x), labels=range(4)))
        modell.partial_fit(x, y, classes=range(4))
        if runde % 5 == 0:
            print(f"{time.monotonic() - start:6.1f} s  Streifen {runde:5d}  Verlust {np.mean(verlauf[-20:]):.4f}")


main()
