"""Random search over LightGBM settings with a process pool, results to a JSON lines file."""
import json
import logging
import random
import time
from multiprocessing import Pool

import lightgbm as lgb
import numpy as np
from sklearn.datasets import make_regression
from sklearn.model_selection import cross_val_score

logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(asctime)s %(processName)s: %(message)s")


def load():
    return make_regression(6000, 30, n_informative=12, noise=25.0, random_state=0)


def trial(seed):
    r = random.Random(seed)
    params = dict(n_estimators=r.choice([100, 200, 400]), num_leaves=r.choice([15, 31, 63]),
                  learning_rate=10 ** r.uniform(-2, -0.6), colsample_bytree=r.uniform(0.5, 1), min_child_samples=r.randint(5, 60))
    x, y = load()
    t = time.time()
    score = cross_val_score(lgb.LGBMRegressor(**params, n_jobs=1, verbose=-1), x, y, cv=4, scoring="r2").mean()
    logging.info("trial %d: r2=%.4f leaves=%d trees=%d (%.1fs)", seed, score, params["num_leaves"], params["n_estimators"], time.time() - t)
    return {"seed": seed, "r2": float(score), **params}


if __name__ == "__main__":
    best = None
    with Pool(2) as pool, open("trials.jsonl", "w") as out:
        for row in pool.imap_unordered(trial, range(100000)):
            out.write(json.dumps(row) + "\n")
            out.flush()
            if best is None or row["r2"] > best["r2"]:
                best = row
                logging.info("new best %.4f (trial %d)", best["r2"], best["seed"])
