# Gradient boosting with stumps for the churn table. Plain numpy.
import csv
import sys
import time

import numpy as np

RNG = np.random.default_rng(3)
N, D = 6000, 30


def table():
    x = RNG.normal(size=(N, D))
    z = np.sin(x[:, 0] * 2) + x[:, 1] * x[:, 2] - 0.6 * (x[:, 3] > 0.4) + 0.3 * x[:, 4]
    y = (RNG.random(N) < 1 / (1 + np.exp(-2 * z))).astype(float)
    return x, y


def best_stump(x, residual):
    best = (np.inf, 0, 0.0, 0.0, 0.0)
    for col in RNG.choice(D, size=24, replace=False):
        for cut in np.quantile(x[:, col], np.linspace(0.05, 0.95, 15)):
            left = x[:, col] < cut
            a, b = residual[left].mean(), residual[~left].mean()
            err = ((residual - np.where(left, a, b)) ** 2).sum()
            if err < best[0]:
                best = (err, col, cut, a, b)
    return best[1:]


def logloss(y, f):
    p = 1 / (1 + np.exp(-f))
    return float(-(y * np.log(p + 1e-9) + (1 - y) * np.log(1 - p + 1e-9)).mean())


def main():
    x, y = table()
    train = np.arange(N) < 4800
    f = np.zeros(N)
    table_file = open("rounds.csv", "w", newline="", buffering=1)  # noqa: SIM115
    out = csv.writer(table_file)
    out.writerow(["round", "train_logloss", "valid_logloss", "seconds"])
    for r in range(1, 5000):
        t0 = time.perf_counter()
        p = 1 / (1 + np.exp(-f))
        col, cut, a, b = best_stump(x[train], (y - p)[train])
        f += 0.3 * np.where(x[:, col] < cut, a, b)
        row = [r, round(logloss(y[train], f[train]), 5), round(logloss(y[~train], f[~train]), 5)]
        time.sleep(0.06)
        out.writerow([*row, round(time.perf_counter() - t0, 4)])
        if r % 10 == 0:
            print(f"[{r:5d}]  train-logloss:{row[1]:.5f}  valid-logloss:{row[2]:.5f}", file=sys.stderr)


main()
