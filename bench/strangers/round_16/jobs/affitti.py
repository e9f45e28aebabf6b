"""Ricerca degli iperparametri per i prezzi degli affitti (xgboost e foreste)."""
import time

import numpy as np
import xgboost as xgb
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.model_selection import KFold

rng = np.random.default_rng(14)
n = 5000
X = rng.normal(size=(n, 24))
X[:, 0] = rng.integers(20, 180, n)
prezzo = 300 + 9 * X[:, 0] + 80 * np.sin(X[:, 1] * 2) + 60 * X[:, 2] * X[:, 3] + rng.normal(size=n) * 90

migliore = (np.inf, None)
for prova in range(1, 5000):
    inizio = time.time()
    if prova % 3:
        scelta = {
            "max_depth": int(rng.integers(3, 7)),
            "learning_rate": float(10 ** rng.uniform(-2, -0.6)),
            "n_estimators": int(rng.integers(60, 220)),
            "subsample": float(rng.uniform(0.6, 1)),
        }
        crea = lambda: xgb.XGBRegressor(**scelta, n_jobs=1, verbosity=0)
        tipo = "xgb"
    else:
        scelta = {"n_estimators": int(rng.integers(15, 50)), "min_samples_leaf": int(rng.integers(1, 12))}
        crea = lambda: ExtraTreesRegressor(**scelta, n_jobs=1)
        tipo = "extra"
    errori = []
    for a, b in KFold(3, shuffle=True, random_state=0).split(X):
        modello = crea().fit(X[a], prezzo[a])
        errori.append(float(np.sqrt(np.mean((modello.predict(X[b]) - prezzo[b]) ** 2))))
    rmse = float(np.mean(errori))
    if rmse < migliore[0]:
        migliore = (rmse, scelta)
    print(f"prova {prova:4d} [{tipo:5s}] rmse={rmse:7.2f} ± {np.std(errori):.2f} in {time.time() - inizio:.1f}s  (migliore {migliore[0]:.2f})")
