"""Asuntojen hinnat LightGBM:llä: toistettu ristiinvalidointi, piirteet lasketaan joka jaolle uudestaan."""
import signal
import time

import lightgbm as lgb
import numpy as np
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import RepeatedKFold

signal.alarm(320)
KESTO = 190
rng = np.random.default_rng(8)


def aineisto(n=12000):
    x = rng.normal(size=(n, 30))
    x[:, 0] = rng.integers(0, 80, n)
    alue = rng.normal(scale=0.5, size=80)
    y = alue[x[:, 0].astype(int)] + 0.8 * x[:, 1] - 0.5 * np.abs(x[:, 2]) + 0.2 * x[:, 3] * x[:, 4] + 0.3 * rng.normal(size=n)
    return x, y


def piirteet(x, y, opetus):
    """Naapuruston keskihinta ja lähimpien kohteiden etäisyys opetusjoukosta."""
    keskiarvo = np.zeros(len(x))
    for koodi in np.unique(x[:, 0]):
        samat = x[:, 0] == koodi
        keskiarvo[samat] = y[samat & opetus].mean()
    viite = x[opetus][:400, 1:5]
    lahin = np.empty(len(x))
    for alku in range(0, len(x), 500):
        osa = x[alku:alku + 500, None, 1:5] - viite[None]
        lahin[alku:alku + 500] = np.sort((osa**2).sum(-1), axis=1)[:, :10].mean(1)
    return np.column_stack([x, keskiarvo, lahin])


x, y = aineisto()
alku = time.time()
tulokset = []
for kierros, (opetus, testi) in enumerate(RepeatedKFold(n_splits=5, n_repeats=100, random_state=0).split(x)):
    joukko = np.zeros(len(x), bool)
    joukko[opetus] = True
    p = piirteet(x, y, joukko)
    malli = lgb.LGBMRegressor(n_estimators=600, learning_rate=0.04, num_leaves=63, n_jobs=1, verbose=-1)
    malli.fit(p[opetus], y[opetus], eval_set=[(p[testi], y[testi])], callbacks=[lgb.early_stopping(40, verbose=False)])
    virhe = mean_absolute_error(y[testi], malli.predict(p[testi]))
    tulokset.append(virhe)
    print(f"jako {kierros + 1}: MAE {virhe:.4f} (keskiarvo {np.mean(tulokset):.4f}), puita {malli.best_iteration_}, "
          f"{time.time() - alku:.0f} s", flush=True)
    if time.time() - alku > KESTO:
        break
