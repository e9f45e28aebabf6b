"""Train an incremental text classifier and keep every few batches a snapshot (so that a preempted VM loses nothing)."""
import sys
import time

import joblib
import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.metrics import accuracy_score
from sklearn.neural_network import MLPClassifier

SNAPSHOT_EVERY = 10
TOPICS = ["sport", "politics", "music", "food", "travel"]
rng = np.random.default_rng(5)
lexicon = {t: [f"{t[:2]}{i}" for i in range(400)] for t in TOPICS}
common = [f"w{i}" for i in range(3000)]


def batch(n=128):
    ys = rng.choice(TOPICS, n)
    xs = []
    for y in ys:
        k = rng.integers(6, 25)
        words = rng.choice(common, k).tolist() + rng.choice(lexicon[y], 3).tolist()
        xs.append(" ".join(words))
    return xs, ys


vec = HashingVectorizer(n_features=4096, alternate_sign=False)
clf = MLPClassifier(hidden_layer_sizes=(64,), learning_rate_init=2e-3)
i = 0
while i < 10_000_000:
    i += 1
    xs, ys = batch()
    X = vec.transform(xs)
    if i > 1:
        acc = accuracy_score(ys, clf.predict(X))
        sys.stderr.write(f"batch {i} progressive_acc {acc:.3f} loss {clf.loss_:.4f}\n")
    clf.partial_fit(X, ys, classes=TOPICS)
    if i % SNAPSHOT_EVERY == 0:
        t0 = time.time()
        joblib.dump(clf, "snapshot.joblib.xz", compress=("xz", 6))
        sys.stderr.write(f"snapshot written ({time.time() - t0:.2f}s)\n")
