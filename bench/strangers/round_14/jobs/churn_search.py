"""Random search for a churn model (xgboost), 3-fold."""
import csv
import random
import time
import warnings

import numpy as np
import xgboost as xgb

rng = np.random.default_rng(8)
X = rng.normal(size=(12000, 30))
X[rng.random(X.shape) < 0.05] = np.nan
z = np.nan_to_num(X)
y = ((z[:, 0] * z[:, 1] + z[:, 2] - 0.6 * np.abs(z[:, 3]) + rng.normal(0, 1, 12000)) > 0).astype(int)
fold = rng.integers(0, 3, 12000)
pick = random.Random(1)
warnings.warn("column 'tariff_code' is constant in 2 months, kept anyway")
best = 0.0
with open("trials.csv", "w", newline="") as f:
    out = csv.writer(f)
    out.writerow(["trial", "depth", "eta", "subsample", "auc", "seconds"])
    for trial in range(1, 2000):
        params = {"objective": "binary:logistic", "eval_metric": "auc", "nthread": 1, "max_depth": pick.choice([2, 3, 4, 6, 8]),
                  "eta": round(10 ** pick.uniform(-2, -0.5), 4), "subsample": pick.choice([0.5, 0.8, 1.0]), "tree_method": "hist"}
        t, scores = time.time(), []
        for k in range(3):
            d, v = xgb.DMatrix(X[fold != k], y[fold != k]), xgb.DMatrix(X[fold == k], y[fold == k])
            print(f"--- trial {trial} fold {k} {params['max_depth']=} {params['eta']=}")
            b = xgb.train(params, d, 150, [(v, "valid")], early_stopping_rounds=20, verbose_eval=25)
            scores.append(b.best_score)
        auc = float(np.mean(scores))
        out.writerow([trial, params["max_depth"], params["eta"], params["subsample"], f"{auc:.5f}", f"{time.time() - t:.1f}"])
        f.flush()
        if auc > best:
            best = auc
            b.save_model("best.json")
            print(f"*** new best {best:.4f}")
