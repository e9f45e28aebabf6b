"""Ore grade of drill cores with partial_fit; the assay table is too large for memory, so it stays packed."""
import gzip
import random
import time

import numpy as np
from sklearn.linear_model import SGDClassifier

WIDTH = 128


def write(path, rows):
    rng = np.random.default_rng(2)
    with gzip.open(path, "wt", compresslevel=1) as out:
        for start in range(0, rows, 20000):
            grades = rng.integers(0, 100, (200, 20))
            lines = [(",".join(map(str, g)) + f",{int(g[:5].sum() > 250)}").ljust(WIDTH - 1) + "\n" for g in grades]
            out.write("".join(lines) * 100)


class Assays:
    def __init__(self, path, rows):
        self.file, self.rows = gzip.open(path, "rb"), rows

    def row(self, i):
        self.file.seek(i * WIDTH)
        return [int(v) for v in self.file.read(WIDTH).decode().split(",")]


rows = 600_000
write("assays.csv.gz", rows)
assays = Assays("assays.csv.gz", rows)
model = SGDClassifier(loss="log_loss")
random.seed(0)
seen = hit = 0
began = time.time()
for n in range(1, 100000):
    table = np.array([assays.row(random.randrange(rows)) for _ in range(8)])
    x, y = table[:, :-1] / 100, table[:, -1]
    if n > 1:
        hit += int((model.predict(x) == y).sum())
        seen += len(y)
    model.partial_fit(x, y, classes=[0, 1])
    print(f"batch {n:6d} | accuracy so far {hit / max(1, seen):.3f} | {time.time() - began:7.1f}s", flush=True)
