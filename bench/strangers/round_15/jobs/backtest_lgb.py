"""Walk-forward backtest: a LightGBM model for each window."""
import logging
import pathlib

import lightgbm as lgb
import numpy as np

root = logging.getLogger("backtest")
root.setLevel(logging.INFO)
root.addHandler(logging.StreamHandler())


def window_logger(n):
    path = pathlib.Path("windows") / f"{n // 100:03d}"
    path.mkdir(parents=True, exist_ok=True)
    log = logging.getLogger(f"window.{n}")
    log.setLevel(logging.DEBUG)
    handler = logging.FileHandler(path / f"{n:06d}.txt")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log.addHandler(handler)
    return log


rng = np.random.default_rng(0)
beta = rng.normal(size=20)
series = rng.normal(size=(200_000, 20))
returns = np.sign(series @ beta) * 0.5 + rng.normal(size=200_000)

correct = []
for n in range(5000):
    log = window_logger(n)
    a = n * 25
    train = lgb.Dataset(series[a : a + 2500], returns[a : a + 2500])
    booster = lgb.train({"objective": "l2", "num_leaves": 31, "learning_rate": 0.1, "verbosity": -1, "num_threads": 1}, train, num_boost_round=180)
    test = slice(a + 2500, a + 2600)
    pred = booster.predict(series[test])
    hit = float(np.mean(np.sign(pred) == np.sign(returns[test])))
    correct.append(hit)
    log.debug("gain %s", booster.feature_importance("gain").round(1).tolist())
    log.info("hit rate %.3f", hit)
    if n % 10 == 0:
        root.info("window %d  hit rate %.3f  mean of last 50 %.3f", n, hit, np.mean(correct[-50:]))
