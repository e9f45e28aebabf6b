"""Random search with cross-validation for the churn model."""
import time
import warnings

import numpy as np
import xgboost as xgb
from sklearn.model_selection import StratifiedKFold

rng = np.random.default_rng(21)
n, f = 6000, 30
X = rng.normal(size=(n, f))
X[rng.random((n, f)) < 0.05] = np.nan
signal = np.nan_to_num(X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3] - 0.5 * X[:, 4] ** 2)
y = (signal + rng.normal(size=n) > 0).astype(int)
warnings.warn("column 'region_code' is constant in 3 partitions, kept", UserWarning)

best, best_auc = None, 0.0
for trial in range(500):
    params = {
        "objective": "binary:logistic",
        "eval_metric": ["logloss", "auc"],
        "max_depth": int(rng.integers(3, 9)),
        "eta": float(10 ** rng.uniform(-2, -0.7)),
        "subsample": float(rng.uniform(0.5, 1.0)),
        "colsample_bytree": float(rng.uniform(0.5, 1.0)),
        "nthread": 2,
        "seed": trial,
    }
    print(f"trial {trial}: depth={params['max_depth']} eta={params['eta']:.3f}", flush=True)
    t0, aucs = time.time(), []
    for tr, va in StratifiedKFold(5, shuffle=True, random_state=trial).split(X, y):
        res = {}
        xgb.train(
            params,
            xgb.DMatrix(X[tr], y[tr]),
            num_boost_round=120,
            evals=[(xgb.DMatrix(X[va], y[va]), "valid")],
            evals_result=res,
            verbose_eval=20,
            early_stopping_rounds=25,
        )
        aucs.append(max(res["valid"]["auc"]))
    if np.mean(aucs) > best_auc:
        best, best_auc = params, float(np.mean(aucs))
    print(f"trial {trial}: auc {np.mean(aucs):.4f} +- {np.std(aucs):.4f}, best {best_auc:.4f}, took {time.time() - t0:.1f}s", flush=True)
