import logging
import time

import lightgbm as lgb
import numpy as np

logging.basicConfig(level=logging.INFO, format="%(asctime)s bakery: %(message)s")
rng = np.random.default_rng(8)


def sales(days, shops=80):
    d = np.repeat(np.arange(days), shops)
    s = np.tile(np.arange(shops), days)
    x = np.column_stack([d % 7, s, np.sin(d / 58), rng.normal(size=len(d)), rng.normal(size=len(d)), rng.integers(0, 30, len(d))])
    y = 50 + 20 * (x[:, 0] == 5) + 0.3 * s + 12 * x[:, 2] + 3 * x[:, 3] + rng.normal(0, 6, len(d))
    return x, y


began = time.time()
x, y = sales(420)
window = 0
while time.time() - began < 42:
    cut = 200 * 80 + window * 14 * 80
    train = lgb.Dataset(x[:cut], y[:cut])
    valid = lgb.Dataset(x[cut:cut + 1120], y[cut:cut + 1120], reference=train)
    hist = {}
    model = lgb.train(
        {"objective": "l1", "num_leaves": 63, "learning_rate": 0.05, "verbose": -1, "num_threads": 1}, train, 400, valid_sets=[valid],
        callbacks=[lgb.early_stopping(40, verbose=False), lgb.record_evaluation(hist)])
    logging.info("window %d: rows %d, trees %d, MAE %.3f", window, cut, model.best_iteration, model.best_score["valid_0"]["l1"])
    model.save_model("bakery.lgb")
    window = (window + 1) % 14
logging.info("finished after %.0f s", time.time() - began)
