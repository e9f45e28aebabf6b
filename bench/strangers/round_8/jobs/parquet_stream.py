"""Click model over parquet shards: a reader thread keeps a few shards ahead and a bounded cache of parsed ones."""

import logging
import queue
import threading
import time
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

logging.basicConfig(format="%(levelname).1s %(asctime)s %(threadName)s] %(message)s", level=logging.INFO)
SHARDS = 12
folder = Path("shards")


def write_shards():
    folder.mkdir(exist_ok=True)
    truth = np.random.default_rng(1).normal(size=20)
    for i in range(SHARDS):
        rng = np.random.default_rng(i + 10)
        x = rng.normal(size=(4000, 20)).astype("float32")
        y = (rng.random(4000) < 1 / (1 + np.exp(-x @ truth))).astype("float32")
        columns = {f"f{c}": x[:, c] for c in range(20)} | {"click": y}
        pq.write_table(pa.table(columns), folder / f"part-{i:03d}.parquet")


class Reader(threading.Thread):
    def __init__(self, ahead=3, keep=6):
        super().__init__(daemon=True, name="reader")
        self.out = queue.Queue(maxsize=ahead)
        self.cache = OrderedDict()
        self.keep = keep

    def load(self, path):
        if path in self.cache:
            self.cache.move_to_end(path)
        else:
            t = pq.read_table(path)
            self.cache[path] = np.column_stack([t[name].to_numpy() for name in t.column_names])
            if len(self.cache) > self.keep:
                self.cache.popitem(last=False)
        return self.cache[path]

    def run(self):
        rng = np.random.default_rng(0)
        while True:
            for i in rng.permutation(SHARDS):
                self.out.put(self.load(folder / f"part-{i:03d}.parquet"))


def main():
    write_shards()
    reader = Reader()
    reader.start()
    w1 = 0.1 * np.random.default_rng(2).normal(size=(20, 32))
    w2 = np.zeros(32)
    seen = 0
    losses = []
    while True:
        shard = reader.out.get()
        for at in range(0, 4000, 100):
            x, y = shard[at : at + 100, :20], shard[at : at + 100, 20]
            h = np.tanh(x @ w1)
            p = 1 / (1 + np.exp(-h @ w2))
            losses.append(-(y * np.log(p + 1e-7) + (1 - y) * np.log(1 - p + 1e-7)).mean())
            d = (p - y) / len(y)
            w1 -= 0.02 * x.T @ (np.outer(d, w2) * (1 - h * h))
            w2 -= 0.02 * h.T @ d
            seen += len(y)
            time.sleep(0.02)
            if seen % 2000 == 0:
                logging.info("rows=%d logloss=%.4f cache=%d shards", seen, np.mean(losses), len(reader.cache))
                losses.clear()


main()
