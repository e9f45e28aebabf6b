import os
import numpy as np
from tqdm import tqdm, trange

os.environ.setdefault("OMP_NUM_THREADS", "1")
what = os.environ.get("KEEP", "nothing")
rs = np.random.RandomState(0)
D = 300
w_true = rs.randn(D)
w = np.zeros(D)
m = np.zeros(D)
history = np.zeros((0, 64))
all_grads = []

def loss_and_grad(w, X, y):
    p = 1 / (1 + np.exp(-(X @ w)))
    eps = 1e-9
    l = -(y * np.log(p + eps) + (1 - y) * np.log(1 - p + eps)).mean()
    return l, X.T @ (p - y) / len(y), p

for epoch in range(1000):
    bar = trange(400, desc=f"epoch {epoch}", mininterval=0.5)
    for it in bar:
        X = rs.randn(3000, D)
        y = (X @ w_true + rs.randn(3000) > 0).astype(float)
        l, g, p = loss_and_grad(w, X, y)
        m = 0.9 * m + g
        w -= 0.01 * m
        if what == "history":
            # keep the predictions of every step for the calibration plot
            for j in range(0, 1472, 64):
                history = np.concatenate([history, p[None, j:j + 64]])
            ece = np.abs(np.sort(history, axis=1).mean(0) - 0.5).max()
            bar.set_postfix(loss=f"{l:.4f}", ece=f"{ece:.3f}")
        elif what == "grads":
            all_grads.append((g, X[:40].copy()))
            bar.set_postfix(loss=f"{l:.4f}", n=len(all_grads))
            if len(all_grads) > 9000: break
        else:
            bar.set_postfix(loss=f"{l:.4f}")
    if len(all_grads) > 9000: break
