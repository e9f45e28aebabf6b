"""Survival model with heavy-ball momentum, numpy and pandas; writes history.csv."""

import time

import numpy as np
import pandas as pd

rng = np.random.default_rng(6)
frame = pd.DataFrame(rng.normal(size=(2000, 20)), columns=[f"marker_{i}" for i in range(20)])
frame["marker_7"] *= 3.0  # measured in another unit by one of the labs
hazard = frame.to_numpy() @ rng.normal(size=20) * 0.3 + 0.2 * rng.normal(size=2000)

X, y = frame.to_numpy(), hazard
w, v = np.zeros(20), np.zeros(20)
lr, beta = 0.02, 0.9
with open("history.csv", "w", buffering=1) as out:
    out.write("iteration,lr,loss\n")
    for it in range(1, 10**6):
        if it == 60:
            lr = 0.419  # end of warm-up
        err = X @ w - y
        loss = 0.5 * float((err**2).mean())
        v = beta * v - lr * (X.T @ err / len(y))
        w = w + v
        out.write(f"{it},{lr},{loss:.6g}\n")
        if it % 5 == 0:
            print(f"iteration {it} lr {lr} loss {loss:.5g}", flush=True)
        time.sleep(0.18)
