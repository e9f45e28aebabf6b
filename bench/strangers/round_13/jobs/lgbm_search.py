"""Random search over LightGBM parameters for churn, k-fold; results go to a CSV as they come."""
import csv
import logging
import random
import time

import lightgbm as lgb
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(message)s", datefmt="%d.%m. %H:%M:%S")
log = logging.getLogger()
X, y = make_classification(30000, 40, n_informative=12, flip_y=0.08, weights=[0.8], random_state=4)
rnd = random.Random(12)
folds = StratifiedKFold(4, shuffle=True, random_state=0)
best = 0.0
with open("trials.csv", "w", newline="") as f:
    out = csv.writer(f)
    out.writerow("trial num_leaves lr min_child feature_fraction auc logloss seconds".split())
    for trial in range(2000):
        p = dict(
            objective="binary", verbosity=-1, num_threads=1, num_leaves=rnd.choice([15, 31, 63]),
            learning_rate=10 ** rnd.uniform(-2, -0.7), min_child_samples=rnd.randint(5, 80),
            feature_fraction=rnd.uniform(0.5, 1), metric="binary_logloss",
        )
        aucs, lls, t0 = [], [], time.time()
        for k, (a, b) in enumerate(folds.split(X, y)):
            va = lgb.Dataset(X[b], y[b])
            m = lgb.train(
                p, lgb.Dataset(X[a], y[a]), 120, valid_sets=[va],
                callbacks=[lgb.early_stopping(15, verbose=False)],
            )
            pr = m.predict(X[b])
            aucs.append(roc_auc_score(y[b], pr))
            lls.append(log_loss(y[b], pr))
            log.info("trial %d fold %d: %d trees, auc %.4f", trial, k, m.best_iteration, aucs[-1])
        out.writerow([trial, p["num_leaves"], f"{p['learning_rate']:.4f}", p["min_child_samples"], f"{p['feature_fraction']:.2f}",
                      f"{np.mean(aucs):.5f}", f"{np.mean(lls):.5f}", f"{time.time() - t0:.1f}"])
        f.flush()
        if np.mean(aucs) > best:
            best = np.mean(aucs)
            log.info("*** new best: %.5f (trial %d)", best, trial)
