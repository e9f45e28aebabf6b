"""Churn scoring: gradient boosting in rounds, with a calibration check and a saved booster at intervals."""
import datetime as dt

import numpy as np
import xgboost as xgb
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

X, y = make_classification(120_000, 40, n_informative=24, n_redundant=4, flip_y=0.03, class_sep=0.5, n_clusters_per_class=12, random_state=0)
a, b, ya, yb = train_test_split(X.astype(np.float32), y, test_size=0.15, random_state=0)
train, valid = xgb.DMatrix(a, ya, nthread=1), xgb.DMatrix(b, yb, nthread=1)


class Report(xgb.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        if epoch % 4 == 3:
            t, v = evals_log["train"]["logloss"][-1], evals_log["valid"]["logloss"][-1]
            print(f"{dt.datetime.now():%H:%M:%S} | {epoch + 1:>5} | {t:.5f} | {v:.5f}", flush=True)
        if epoch % 60 == 59:
            p = model.predict(valid)
            bins = np.clip((p * 10).astype(int), 0, 9)
            gap = np.mean([abs(p[bins == k].mean() - yb[bins == k].mean()) for k in range(10) if (bins == k).any()])
            model.save_model("booster.ubj")
            print(f"{dt.datetime.now():%H:%M:%S} | calibration gap {gap:.4f}, saved booster.ubj", flush=True)
        return False


print("time     | round | train   | valid", flush=True)
xgb.train({"objective": "binary:logistic", "eval_metric": "logloss", "eta": 0.03, "max_depth": 8, "subsample": 0.7, "nthread": 1, "tree_method": "hist"},
          train, 3000, evals=[(train, "train"), (valid, "valid")], callbacks=[Report()], verbose_eval=False)
