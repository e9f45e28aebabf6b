"""Hyperparameter search for the card fraud model: LightGBM, stratified folds."""
import itertools
import time
import warnings

import lightgbm as lgb
import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold

warnings.filterwarnings("ignore")
BASE = dict(objective="binary", metric="average_precision", learning_rate=0.05, verbosity=-1, num_threads=16,
            feature_fraction=0.8, bagging_freq=1, bagging_fraction=0.8)
GRID = dict(num_leaves=[31, 63, 127], min_data_in_leaf=[20, 100], lambda_l2=[0.0, 1.0, 10.0], max_bin=[127, 255])


def transactions(n=60_000, d=40, seed=5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)).astype(np.float32)
    x[:, :8] = np.exp(x[:, :8])
    risk = 0.9 * x[:, 10] + 0.6 * x[:, 11] * x[:, 12] + 0.25 * x[:, 0] - 4.2
    return x, (rng.random(n) < 1 / (1 + np.exp(-risk))).astype(int)


def progress(tag):
    def callback(env):
        if env.iteration % 10 == 9:
            print(f"{time.strftime('%H:%M:%S')} {tag} [{env.iteration + 1}] AP={env.evaluation_result_list[0][2]:.4f}", flush=True)
    return callback


def fit(number, params, x, y):
    scores = []
    for fold, (tr, va) in enumerate(StratifiedKFold(3, shuffle=True, random_state=1).split(x, y)):
        train = lgb.Dataset(x[tr], y[tr], params={"max_bin": params["max_bin"], "verbosity": -1})
        valid = lgb.Dataset(x[va], y[va], reference=train)
        model = lgb.train({**BASE, **params}, train, 250, valid_sets=[valid], callbacks=[progress(f"cand{number:02d}/fold{fold}")])
        scores.append(average_precision_score(y[va], model.predict(x[va])))
    return number, float(np.mean(scores))


if __name__ == "__main__":
    x, y = transactions()
    candidates = [dict(zip(GRID, v)) for v in itertools.product(*GRID.values())]
    print(f"{len(candidates)} candidates, {len(x)} transactions, {y.mean():.2%} fraud", flush=True)
    done = Parallel(n_jobs=-1, verbose=10)(delayed(fit)(i, p, x, y) for i, p in enumerate(candidates))
    best, score = max(done, key=lambda r: r[1])
    print("best", candidates[best], score)
