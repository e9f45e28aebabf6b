import datetime
import itertools
import json
import warnings

import numpy as np
import xgboost as xgb
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

X, y = make_classification(12000, 50, n_informative=15, weights=[0.9], flip_y=0.03, random_state=1)
out = open("cv.jsonl", "a", buffering=1)


def note(**kw):
    line = json.dumps({"ts": datetime.datetime.now().isoformat(timespec="milliseconds"), **kw})
    out.write(line + "\n")
    print(line, flush=True)


warnings.warn("parameter 'gpu_id' is deprecated, ignored on CPU builds", FutureWarning)
grid = list(itertools.product([3, 5, 7, 9], [0.03, 0.1, 0.2], [0.5, 0.8, 1.0], [1, 5, 20]))
note(event="start", candidates=len(grid), rows=len(X))
for c, (depth, eta, sub, mcw) in enumerate(grid):
    aucs = []
    for k, (a, b) in enumerate(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)):
        d, v = xgb.DMatrix(X[a], y[a]), xgb.DMatrix(X[b], y[b])
        hist = {}
        m = xgb.train({"max_depth": depth, "eta": eta, "subsample": sub, "min_child_weight": mcw, "nthread": 1,
                       "objective": "binary:logistic", "eval_metric": "logloss"}, d, 150, evals=[(v, "val")],
                      evals_result=hist, early_stopping_rounds=20, verbose_eval=False)
        aucs.append(roc_auc_score(y[b], m.predict(v)))
        note(event="fold", candidate=c, fold=k, rounds=m.num_boosted_rounds(), logloss=round(min(hist["val"]["logloss"]), 5), auc=round(aucs[-1], 5))
    note(event="candidate", candidate=c, depth=depth, eta=eta, auc_mean=round(float(np.mean(aucs)), 5))
