"""Scores of card payments by boosted trees, with the lift of every round."""
import csv
import sys
import time

import lightgbm as lgb
import numpy as np


def payments(n=130000, seed=1):
    r = np.random.default_rng(seed)
    x = r.normal(size=(n, 14)).astype("f4")
    z = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.5 * x[:, 3]
    return x, (z + r.normal(size=n) > 1.5).astype("f4")


class LiftCurves:
    """Cumulative gains, for the plot of the rounds at the end."""

    def __init__(self):
        self.curves = []

    def __call__(self, preds, data):
        y = data.get_label()
        order = np.argsort(-preds)
        gains = np.cumsum(y[order].astype(np.float64))
        self.curves.append((preds.copy(), order, gains))
        return "lift10", gains[len(y) // 10] / gains[-1] * 10, True


def main():
    x, y = payments()
    train = lgb.Dataset(x, y, free_raw_data=False)
    out = csv.writer(sys.stdout)
    out.writerow(["round", "seconds", "binary_logloss", "lift10"])
    begun = time.time()

    def row(env):
        v = {r[1]: r[2] for r in env.evaluation_result_list}
        if env.iteration % 5 == 0:
            out.writerow([env.iteration, f"{time.time() - begun:.1f}", f"{v['binary_logloss']:.6f}", f"{v['lift10']:.4f}"])
            sys.stdout.flush()

    lgb.train({"objective": "binary", "metric": "binary_logloss", "learning_rate": 0.01, "num_leaves": 48,
               "num_threads": 1, "verbose": -1}, train, num_boost_round=2000, valid_sets=[train],
              feval=LiftCurves(), callbacks=[row])


if __name__ == "__main__":
    main()
