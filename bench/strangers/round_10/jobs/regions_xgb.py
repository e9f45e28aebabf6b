"""One model per sales region, one after the other, until all are fresh."""
import logging

import numpy as np
import xgboost as xgb

logging.basicConfig(format="%(asctime)s %(levelname)-7s %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("regions")
xgb.set_config(verbosity=1)


class ToLog(xgb.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        if epoch % 25 == 0:
            log.info("round %d train %.4f valid %.4f", epoch, evals_log["train"]["logloss"][-1], evals_log["valid"]["logloss"][-1])
        return False


def region(i):
    g = np.random.default_rng(i)
    n = int(g.integers(20000, 60000))
    X = g.normal(size=(n, 40)).astype("f4")
    z = X[:, :8] @ g.normal(size=8) + X[:, 0] * X[:, 9]
    y = (z + g.logistic(size=n) > g.uniform(-1, 1)).astype(int)
    k = int(n * 0.85)
    return xgb.QuantileDMatrix(X[:k], y[:k], nthread=2), X[k:], y[k:]


for i in range(1000):
    log.info("region %03d: reading", i)
    dtrain, Xv, yv = region(i)
    dvalid = xgb.QuantileDMatrix(Xv, yv, ref=dtrain, nthread=2)
    bst = xgb.train(
        {"objective": "binary:logistic", "eval_metric": "logloss", "eta": 0.05, "max_depth": 7, "nthread": 2, "subsample": 0.8},
        dtrain,
        400,
        evals=[(dtrain, "train"), (dvalid, "valid")],
        verbose_eval=False,
        callbacks=[ToLog(), xgb.callback.EarlyStopping(25, save_best=True)],
    )
    bst.save_model(f"region_{i:03d}.ubj")
    log.info("region %03d: done, best round %d, logloss %.4f", i, bst.best_iteration, bst.best_score)
    if i % 4 == 3:
        log.warning("region %03d: 2 features have a single value, they are ignored", i)
