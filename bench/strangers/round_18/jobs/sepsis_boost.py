"""Sepsis risk with gradient boosted trees; after every round the stability of the ranking over the rounds is measured."""
import numpy as np
import xgboost as xgb

rng = np.random.default_rng(8)
X = rng.normal(size=(20000, 30)).astype(np.float32)
y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=len(X)) > 0).astype(int)
train, val = xgb.DMatrix(X[:8000], y[:8000]), xgb.DMatrix(X[8000:], y[8000:])


class Stability(xgb.callback.TrainingCallback):
    def __init__(self):
        self.curve = []

    def after_iteration(self, model, epoch, evals_log):
        last = None
        overlap = []
        for upto in range(1, epoch + 2):
            score = model.predict(val, iteration_range=(0, upto))
            top = set(np.argsort(-score)[:400].tolist())
            if last is not None:
                overlap.append(len(top & last) / 400)
            last = top
        self.curve.append(float(np.mean(overlap)) if overlap else 1.0)
        return False


xgb.train({"objective": "binary:logistic", "eval_metric": "logloss", "max_depth": 5, "eta": 0.03, "nthread": 1},
          train, num_boost_round=5000, evals=[(train, "train"), (val, "icu")], callbacks=[Stability()], verbose_eval=1)
