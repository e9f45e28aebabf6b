"""Splice site scoring with LightGBM, repeated 5-fold cross-validation on k-mer counts."""
import sys
import warnings

import lightgbm as lgb
import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold

warnings.filterwarnings("ignore")
rng = np.random.default_rng(2)
n = 12000
y = rng.integers(0, 2, n)
seqs = rng.integers(0, 4, (n, 80))
consensus = np.array([1, 0, 2, 2, 3, 0, 0, 2, 3])
for i in np.flatnonzero(y):
    keep = rng.random(9) < .5
    seqs[i, 38:47][keep] = consensus[keep]
kmer = seqs[:, :-2] * 16 + seqs[:, 1:-1] * 4 + seqs[:, 2:]
counts = np.stack([(kmer == k).sum(1) for k in range(64)], 1)
X = np.hstack([counts, np.eye(4)[seqs[:, 25:60]].reshape(n, -1)]).astype(np.float32)
print(f"{n} candidate sites, {X.shape[1]} features, positives {y.mean():.1%}")

scores = []
for fold, (tr, te) in enumerate(RepeatedStratifiedKFold(n_splits=5, n_repeats=60, random_state=0).split(X, y)):
    print(f"\n=== fold {fold + 1}/300 ===", flush=True)
    d = lgb.Dataset(X[tr], y[tr])
    booster = lgb.train({"objective": "binary", "metric": ["binary_logloss", "auc"], "num_leaves": 31, "learning_rate": .03, "num_threads": 1,
                         "feature_fraction": .5, "bagging_fraction": .7, "bagging_freq": 1, "seed": fold, "verbosity": -1},
                        d, num_boost_round=1500, valid_sets=[lgb.Dataset(X[te], y[te], reference=d)], valid_names=["held-out"],
                        callbacks=[lgb.log_evaluation(25), lgb.early_stopping(60, verbose=True)])
    scores.append(roc_auc_score(y[te], booster.predict(X[te])))
    booster.save_model(f"fold_{fold:02d}.txt")
    print(f"fold {fold + 1}: {booster.best_iteration} trees, auc {scores[-1]:.4f}; so far {np.mean(scores):.4f} +- {np.std(scores):.4f}", flush=True)
sys.exit(0)
