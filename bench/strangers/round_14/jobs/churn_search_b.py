import json
import time

import lightgbm as lgb
import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ParameterSampler, train_test_split

X, y = make_classification(20000, 40, n_informative=12, flip_y=0.1, random_state=5)
Xa, Xb, ya, yb = train_test_split(X, y, random_state=5)
space = {"num_leaves": [15, 31, 63], "learning_rate": [0.02, 0.05, 0.1], "min_child_samples": [10, 40, 100],
         "subsample": [0.6, 0.8, 1.0], "reg_lambda": [0, 1, 10], "colsample_bytree": [0.5, 0.7, 0.9]}


def fit(i, p):
    t = time.time()
    m = lgb.LGBMClassifier(n_estimators=60, n_jobs=8, verbose=-1, subsample_freq=1, **p).fit(Xa, ya)
    auc = roc_auc_score(yb, m.predict_proba(Xb)[:, 1])
    print(json.dumps({"trial": i, "auc": round(auc, 5), "sec": round(time.time() - t, 2), **p}), flush=True)
    return auc


if __name__ == "__main__":
    trials = list(ParameterSampler(space, 700, random_state=0))
    with Parallel(n_jobs=4) as pool:
        best = max(pool(delayed(fit)(i, p) for i, p in enumerate(trials)))
    print("best", best)
