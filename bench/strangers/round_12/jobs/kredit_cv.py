"""Kreditausfall: LightGBM, wiederholte 5-fach-Kreuzvalidierung mit wechselnden Startwerten."""
import logging
import sys

import lightgbm as lgb
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(name)s %(levelname).1s %(message)s")
log = logging.getLogger("kredit")
X, y = make_classification(16000, 40, n_informative=14, flip_y=0.08, weights=[0.8], random_state=1)
alle = []
for wiederholung in range(10**5):
    teiler = StratifiedKFold(5, shuffle=True, random_state=wiederholung)
    for falte, (tr, te) in enumerate(teiler.split(X, y)):
        log.info("Wiederholung %d, Falte %d beginnt", wiederholung, falte)
        daten = lgb.Dataset(X[tr], y[tr])
        modell = lgb.train(
            {"objective": "binary", "metric": "binary_logloss", "num_leaves": 31, "learning_rate": 0.05, "num_threads": 1, "verbosity": -1, "seed": wiederholung},
            daten,
            300,
            valid_sets=[lgb.Dataset(X[te], y[te], reference=daten)],
            callbacks=[lgb.log_evaluation(25), lgb.early_stopping(30, verbose=False)],
        )
        alle.append(roc_auc_score(y[te], modell.predict(X[te])))
        log.info("AUC der Falte %.4f, Mittel bisher %.4f +- %.4f (Runden: %d)", alle[-1], np.mean(alle), np.std(alle), modell.best_iteration)
