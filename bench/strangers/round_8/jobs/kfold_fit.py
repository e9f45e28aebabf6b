"""One fold of logistic regression on the sensor table."""

import argparse
import time

import numpy as np

ap = argparse.ArgumentParser()
ap.add_argument("--seed", type=int)
ap.add_argument("--fold", type=int)
a = ap.parse_args()
rng = np.random.default_rng(a.seed)
X = rng.normal(size=(5000, 40))
y = (X[:, :5].sum(1) + rng.normal(size=5000) > 0).astype(float)
test = np.arange(5000) % 10 == a.fold
w = np.zeros(40)
for epoch in range(1, 41):
    order = rng.permutation(np.flatnonzero(~test))
    for at in range(0, len(order), 50):
        i = order[at : at + 50]
        w -= 0.01 * X[i].T @ (1 / (1 + np.exp(-X[i] @ w)) - y[i]) / len(i)
        time.sleep(0.006)
    p = 1 / (1 + np.exp(-X @ w))
    ll = -(y * np.log(p) + (1 - y) * np.log(1 - p))
    print(f"fold {a.fold} epoch {epoch:2d}: train_loss {ll[~test].mean():.4f} test_loss {ll[test].mean():.4f}")
print(f"fold {a.fold} accuracy {((p > 0.5) == y)[test].mean():.3f}")
