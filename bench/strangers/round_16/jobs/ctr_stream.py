import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

ROOT = Path("shards")
N_SHARDS = 24


def prepare():
    ROOT.mkdir(exist_ok=True)
    rng = np.random.default_rng(5)
    w = rng.normal(size=40)
    for i in range(N_SHARDS):
        x = rng.normal(size=(3000, 40)).astype(np.float32)
        y = (x @ w + rng.normal(size=3000) * 2 > 1.5).astype(np.int8)
        np.savez(ROOT / f"clicks-{i:03d}.npz", x=x, y=y)


class ShardReader:
    def __init__(self, root):
        self.root = root
        self.opened = {}

    def get(self, visit, index):
        key = (visit, index)
        if key not in self.opened:
            self.opened[key] = np.load(self.root / f"clicks-{index:03d}.npz")
        shard = self.opened[key]
        return shard["x"], shard["y"]


def main():
    prepare()
    reader = ShardReader(ROOT)
    clf = SGDClassifier(loss="log_loss", alpha=1e-5, learning_rate="constant", eta0=0.002)
    rng = np.random.default_rng(0)
    begin = time.time()
    n = 0
    for visit in range(100000):
        for index in rng.permutation(N_SHARDS):
            x, y = reader.get(visit, int(index))
            if n:
                ll = log_loss(y, clf.predict_proba(x)[:, 1], labels=[0, 1])
            for part in np.array_split(rng.permutation(len(x)), 60):
                clf.partial_fit(x[part], y[part], classes=[0, 1])
            n += 1
            if n % 20 == 0:
                sys.stdout.write(json.dumps({"ts": round(time.time(), 2), "shards": n, "logloss": round(ll, 4), "elapsed": round(time.time() - begin, 1)}) + "\n")


main()
