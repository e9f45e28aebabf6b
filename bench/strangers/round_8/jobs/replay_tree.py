"""Tree search with a replay of every node; memory is trimmed after each update."""

import gc
import random
import time

import numpy as np


class Node:
    def __init__(self, prior):
        self.prior = prior
        self.children = []
        self.stats = {"visits": 0, "value": 0.0, "path": [prior]}


def grow(root, count):
    leaves = [root]
    for _ in range(count):
        node = leaves[random.randrange(max(0, len(leaves) - 500), len(leaves))]
        child = Node(random.random())
        node.children.append(child)
        leaves.append(child)
    return leaves


def trim(w):
    """Keeps the footprint small."""
    gc.collect()
    return np.clip(w, -5, 5)


def main():
    random.seed(0)
    nodes = grow(Node(1.0), 160_000)
    rng = np.random.default_rng(0)
    w = np.zeros(128)
    truth = rng.normal(size=128)
    since = time.time()
    for update in range(1, 10**7):
        for node in random.sample(nodes, 64):
            node.stats["visits"] += 1
        x = rng.normal(size=(256, 128))
        err = x @ w - x @ truth
        w = trim(w - 0.005 * x.T @ err / 256)
        time.sleep(0.02)
        if update % 20 == 0:
            now = time.time()
            print(f"update={update} value_loss={float((err**2).mean()):.4f} ups={20 / (now - since):.2f}", flush=True)
            since = now


main()
