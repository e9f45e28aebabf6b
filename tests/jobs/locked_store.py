"""Fault: each batch is read from a SQLite database that another process locks nine tenths of the time.

Symptom: input-bound-io. Start: python.
"""

import json
import multiprocessing
import signal
import sqlite3
import tempfile
import time

import torch

signal.alarm(300)
torch.set_num_threads(1)


def ingest(path, has_begun):
    store = sqlite3.connect(path, isolation_level=None, timeout=30)
    while True:
        store.execute("BEGIN EXCLUSIVE")
        has_begun.set()
        store.execute("INSERT INTO features VALUES (0.5)")
        time.sleep(0.45)
        store.execute("COMMIT")
        time.sleep(0.02)


def fetch(store, count):
    rows = store.execute("SELECT value FROM features LIMIT ?", (count,)).fetchall()
    return torch.tensor(rows or [(0.1,)]).flatten()[:1].expand(count)


def main():
    with tempfile.TemporaryDirectory() as folder:
        store = sqlite3.connect(f"{folder}/features.db", timeout=30)
        store.execute("CREATE TABLE features (value REAL)")
        store.commit()
        context = multiprocessing.get_context("spawn")
        has_begun = context.Event()
        context.Process(target=ingest, args=(f"{folder}/features.db", has_begun), daemon=True).start()
        has_begun.wait()
        weight = torch.zeros(64)
        for iteration in range(100_000):
            x = torch.randn(256, 64) + fetch(store, 256)[:, None]
            error = x @ weight - x[:, 0]
            weight -= 0.01 * x.T @ error / 256
            print(
                json.dumps({"iteration": iteration, "logloss": float((error**2).mean()), "ts": time.time()}), flush=True
            )


if __name__ == "__main__":
    main()
