"""Uczenie przyrostowe: co parę sekund przychodzi nowa paczka zdarzeń z czujników."""
import csv
import logging
import time

import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(levelname)-7s | %(message)s")
OKRES = 2.5

rng = np.random.default_rng(1)
os_obrotu = rng.normal(size=(2, 24))


def paczka():
    x = rng.normal(size=(60_000, 24)).astype("float32")
    y = (np.sin(x @ os_obrotu[0]) + x @ os_obrotu[1] / 3 + rng.normal(size=len(x)) * 0.4 > 0).astype(int)
    return x, y


cechy = RBFSampler(gamma=0.02, n_components=2500, random_state=0).fit(paczka()[0][:100])
model = SGDClassifier(loss="log_loss", alpha=1e-5, learning_rate="constant", eta0=0.002, random_state=0)
x_test, y_test = paczka()
x_test = cechy.transform(x_test[:4000])
y_test = y_test[:4000]

with open("wyniki.csv", "w", buffering=1) as plik:
    zapis = csv.writer(plik)
    zapis.writerow(["paczka", "krok", "strata", "trafnosc"])
    krok = 0
    for numer in range(1, 10_000):
        poczatek = time.monotonic()
        x, y = paczka()
        logging.info("paczka %d: %d zdarzeń", numer, len(x))
        for i in range(0, len(x), 500):
            model.partial_fit(cechy.transform(x[i : i + 500]), y[i : i + 500], classes=[0, 1])
            krok += 1
            if krok % 12 == 0:
                strata = log_loss(y_test, model.predict_proba(x_test))
                zapis.writerow([numer, krok, round(strata, 5), round(model.score(x_test, y_test), 4)])
                logging.info("krok %d strata=%.5f", krok, strata)
        zostalo = OKRES - (time.monotonic() - poczatek)
        if zostalo > 0:
            logging.info("koniec paczki %d, następna za %.1f s", numer, zostalo)
            time.sleep(zostalo)
