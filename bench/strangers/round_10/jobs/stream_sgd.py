"""Click-through model, trained on micro-batches as they arrive (one every half second)."""
import csv
import time

import joblib
import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.preprocessing import PolynomialFeatures

rng = np.random.default_rng(12)
w = rng.normal(size=24) * 0.6
pairs = rng.normal(size=(24, 24)) * 0.15
clf = SGDClassifier(loss="log_loss", alpha=1e-5, learning_rate="invscaling", eta0=0.02, power_t=0.25)
poly = PolynomialFeatures(2, include_bias=False)
out = csv.writer(open("metrics.csv", "w", buffering=1))
out.writerow(["batch", "time", "rows", "logloss", "auc"])
start = time.time()
k = 0
while time.time() - start < 900:
    n = int(rng.integers(2000, 5000))
    x = rng.normal(size=(n, 24)).astype("float32")
    y = (x @ w + np.einsum("ni,ij,nj->n", x, pairs, x) + rng.logistic(size=n) > 0).astype(int)
    z = poly.fit_transform(x)
    if k:
        p = clf.predict_proba(z)[:, 1]
        out.writerow([k, round(time.time() - start, 2), n, round(log_loss(y, p, labels=[0, 1]), 4), round(roc_auc_score(y, p), 4)])
    clf.partial_fit(z, y, classes=[0, 1])
    k += 1
    if k % 60 == 0:
        joblib.dump(clf, "model.joblib")
        print(f"model.joblib written after {k} micro-batches", flush=True)
    time.sleep(max(0.0, start + 0.5 * k - time.time()))
