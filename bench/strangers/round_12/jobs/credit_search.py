"""Successive halving over xgboost settings; two trials at a time, a process each."""
import itertools
import logging
import multiprocessing as mp
import random
import sys

import numpy as np


def data():
    r = np.random.default_rng(8)
    x = r.normal(size=(24000, 30)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] + np.sin(3 * x[:, 2]) + 0.7 * r.normal(size=len(x)) > 0).astype(int)
    return x[:18000], y[:18000], x[18000:], y[18000:]


def trial(job):
    import xgboost as xgb

    number, rounds, conf = job
    x, y, xv, yv = data()
    train, valid = xgb.DMatrix(x, y, nthread=1), xgb.DMatrix(xv, yv, nthread=1)
    log = {}
    xgb.train({**conf, "nthread": 1, "objective": "binary:logistic", "eval_metric": "logloss", "tree_method": "hist"}, train, rounds, [(valid, "valid")], early_stopping_rounds=15, evals_result=log, verbose_eval=False)
    scores = log["valid"]["logloss"]
    return number, conf, len(scores), min(scores)


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="[%(levelname)s|search] %(asctime)s >> %(message)s")
    log = logging.getLogger()
    rng, count = random.Random(0), itertools.count(1)
    for bracket in itertools.count(1):
        pool = [dict(eta=10 ** rng.uniform(-2, -0.3), max_depth=rng.randint(3, 9), subsample=rng.uniform(0.5, 1), reg_lambda=10 ** rng.uniform(-2, 1)) for _ in range(9)]
        for rounds in (30, 90, 270):
            with mp.get_context("spawn").Pool(2, maxtasksperchild=3) as workers:
                done = []
                for number, conf, used, score in workers.imap_unordered(trial, [(next(count), rounds, c) for c in pool]):
                    log.info("trial %d finished: logloss=%.5f rounds=%d/%d eta=%.3f depth=%d", number, score, used, rounds, conf["eta"], conf["max_depth"])
                    done.append((score, number, conf))
            done.sort(key=lambda d: d[:2])
            pool = [conf for _, _, conf in done[: max(1, len(done) // 3)]]
            log.info("bracket %d, %d rounds: best %.5f, %d go on", bracket, rounds, done[0][0], len(pool))
