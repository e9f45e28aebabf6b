"""Codebook for product quantisation: k-means in minibatches, results are shipped by a thread of their own."""

import logging
import queue
import shutil
import threading
import time
from pathlib import Path

import numpy as np

logging.basicConfig(level=logging.INFO, format="[%(asctime)s] %(threadName)s: %(message)s")
log = logging.getLogger()


class Shipper:
    """Copies finished files to the share."""

    def __init__(self, share):
        self.share = Path(share)
        self.share.mkdir(exist_ok=True)
        self.todo = queue.Queue()
        self.thread = threading.Thread(target=self.loop, name="shipper")
        self.thread.start()

    def loop(self):
        while True:
            path = self.todo.get()
            if path is None:
                return
            shutil.copy(path, self.share / path.name)
            log.info("shipped %s", path.name)

    def ship(self, path):
        self.todo.put(path)


class MiniBatchKMeans:
    def __init__(self, k, dim, rng):
        self.centres = rng.normal(size=(k, dim)).astype("float32")
        self.counts = np.ones(k, "float32")

    def partial_fit(self, x):
        distance = ((self.centres**2).sum(1) - 2 * x @ self.centres.T) + (x**2).sum(1, keepdims=True)
        nearest = distance.argmin(1)
        for c in np.unique(nearest):
            rows = x[nearest == c]
            self.counts[c] += len(rows)
            self.centres[c] += (rows - self.centres[c]).sum(0) / self.counts[c]
        return float(np.maximum(distance.min(1), 0).mean())


def main(subspaces=8, steps=120):
    rng = np.random.default_rng(0)
    shipper = Shipper("share")
    began = time.time()
    for sub in range(subspaces):
        truth = 3 * rng.normal(size=(300, 32))
        model = MiniBatchKMeans(256, 32, rng)
        for step in range(1, steps + 1):
            x = truth[rng.integers(0, 300, 6000)] + rng.normal(size=(6000, 32))
            distortion = model.partial_fit(x.astype("float32"))
            if step % 20 == 0:
                log.info("subspace %d step %d/%d distortion %.3f", sub, step, steps, distortion)
        path = Path(f"codebook_{sub}.npy")
        np.save(path, model.centres)
        shipper.ship(path)
    log.info("all %d codebooks done in %.1f s", subspaces, time.time() - began)


if __name__ == "__main__":
    main()
