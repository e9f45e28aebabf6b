"""Abbandono clienti: convalida incrociata ripetuta con XGBoost, griglia di parametri."""
import itertools
import warnings

import numpy as np
import pandas as pd
import xgboost as xgb

rng = np.random.default_rng(2)
N = 20000
df = pd.DataFrame(rng.normal(size=(N, 25)), columns=[f"v{i:02d}" for i in range(25)])
punteggio = df["v00"] * df["v01"] + np.sin(df["v02"] * 2) + 0.5 * df["v03"] + rng.normal(0, 1, N)
dati = xgb.DMatrix(df, label=(punteggio > 0.6).astype(int))
warnings.warn("la colonna 'regione' non esiste piu', uso il valore predefinito", UserWarning)

risultati = []
for prof, eta, sub in itertools.product((4, 6, 8), (0.03, 0.1, 0.2), (0.6, 0.8, 1.0)):
    parametri = dict(objective="binary:logistic", max_depth=prof, eta=eta, subsample=sub, nthread=1,
                     eval_metric="auc", tree_method="hist")
    print(f"--- profondità={prof} eta={eta} sottocampione={sub}")
    cv = xgb.cv(parametri, dati, num_boost_round=400, nfold=5, verbose_eval=20, seed=1)
    risultati.append((cv["test-auc-mean"].iloc[-1], prof, eta, sub))
    pd.DataFrame(risultati, columns=["auc", "prof", "eta", "sub"]).to_csv("griglia.csv", index=False)
    print(f"AUC {risultati[-1][0]:.4f}  (migliore finora {max(risultati)[0]:.4f})")
