"""Probability of default on a loan book, boosted trees, metrics to the desk's tracking store."""
import os
import subprocess
import sys
import time

import numpy as np
import requests
import xgboost as xgb

PORT = 35431
store = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(__file__), "h_tracking_server.py"), str(PORT)])
session = requests.Session()


class Track(xgb.callback.TrainingCallback):
    def __init__(self, run):
        self.run = run

    def after_iteration(self, model, epoch, evals_log):
        for part, metrics in evals_log.items():
            for name, values in metrics.items():
                session.post(f"http://127.0.0.1:{PORT}/log", json={
                    "run": self.run, "round": epoch, "metric": f"{part}/{name}", "value": float(values[-1]),
                })
        return False


rng = np.random.default_rng(11)
x = rng.normal(size=(60_000, 40)).astype("f4")
x[rng.random(x.shape) < 0.05] = np.nan
logit = np.nan_to_num(x[:, 0]) * 1.2 - np.nan_to_num(x[:, 1] * x[:, 2]) + np.sin(2 * np.nan_to_num(x[:, 3])) - 2
y = rng.random(len(x)) < 1 / (1 + np.exp(-logit))
fit, held = xgb.DMatrix(x[:50_000], y[:50_000]), xgb.DMatrix(x[50_000:], y[50_000:])
for _ in range(100):
    try:
        session.post(f"http://127.0.0.1:{PORT}/log", json={"run": "pd-v7", "rows": len(x)})
        break
    except requests.ConnectionError:
        time.sleep(0.1)
xgb.train(
    {"objective": "binary:logistic", "eta": 0.03, "max_depth": 6, "nthread": 1, "eval_metric": ["logloss", "auc"]},
    fit, num_boost_round=3000, evals=[(fit, "fit"), (held, "held")], verbose_eval=1, callbacks=[Track("pd-v7")],
)
