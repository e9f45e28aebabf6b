"""Random search. One worker process runs the trials, so that a leak in a trial does not hurt the search."""

import multiprocessing as mp
import random
import time

import numpy as np


def trial(params, report):
    rng = np.random.default_rng(params["id"])
    x = rng.normal(size=(2000, 30))
    y = x @ rng.normal(size=30) + 0.3 * rng.normal(size=2000)
    w = np.zeros(30)
    for epoch in range(12):
        for at in range(0, 2000, 100):
            e = x[at : at + 100] @ w - y[at : at + 100]
            w -= params["lr"] * (x[at : at + 100].T @ e / 100 + params["l2"] * w)
        time.sleep(0.2)
        report.put(("epoch", params["id"], epoch, float(((x @ w - y) ** 2).mean())))
    report.put(("done", params["id"], 12, float(((x @ w - y) ** 2).mean())))


def worker(todo, report):
    while (params := todo.get()) is not None:
        trial(params, report)


def search(trials):
    todo, report = mp.Queue(), mp.Queue()
    mp.Process(target=worker, args=(todo, report), name="trial-worker").start()
    best = (float("inf"), None)
    for number in range(trials):
        params = {"id": number, "lr": 10 ** random.uniform(-4, -2), "l2": 10 ** random.uniform(-6, -2)}
        todo.put(params)
        while True:
            kind, ident, epoch, mse = report.get()
            print(f"trial {ident} epoch {epoch} mse {mse:.5f}", flush=True)
            if kind == "done":
                break
        best = min(best, (mse, number))
        print(f"--- best so far: trial {best[1]} mse {best[0]:.5f}", flush=True)
    todo.put(None)


if __name__ == "__main__":
    search(500)
