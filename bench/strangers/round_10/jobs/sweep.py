"""Random search over LightGBM settings; every trial is its own process, two at a time."""
import csv
import json
import os
import random
import subprocess
import sys
import time


def trial(cfg):
    import lightgbm as lgb
    import numpy as np

    g = np.random.default_rng(cfg["seed"])
    n = 20000
    X = g.normal(size=(n, 50))
    y = 3 * np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + g.normal(0, 0.5, n)
    tr = lgb.Dataset(X[:16000], y[:16000])
    va = lgb.Dataset(X[16000:], y[16000:], reference=tr)
    hist = {}
    bst = lgb.train(
        {"objective": "l2", "num_threads": 1, "verbosity": -1, **cfg["params"]},
        tr,
        cfg["rounds"],
        valid_sets=[va],
        callbacks=[lgb.record_evaluation(hist), lgb.early_stopping(40, verbose=False)],
    )
    print(json.dumps({"best": min(hist["valid_0"]["l2"]), "iters": bst.best_iteration}))


def main():
    r = random.Random(int(os.environ.get("SWEEP_SEED", 8)))
    running, done, no = [], 0, 0
    best = float("inf")
    with open("results.csv", "w", newline="", buffering=1) as f:
        out = csv.writer(f)
        out.writerow("trial leaves lr ff iters l2 seconds".split())
        while done < 500:
            while len(running) < 2:
                no += 1
                p = {
                    "num_leaves": r.choice([15, 31, 63, 127]),
                    "learning_rate": round(10 ** r.uniform(-1.8, -0.8), 4),
                    "feature_fraction": round(r.uniform(0.5, 1), 2),
                }
                cfg = json.dumps({"seed": 1, "rounds": r.choice([200, 400, 800]), "params": p})
                proc = subprocess.Popen([sys.executable, __file__, cfg], stdout=subprocess.PIPE, text=True)
                running.append((no, p, proc, time.time()))
            time.sleep(0.2)
            for item in running[:]:
                no_, p, proc, t0 = item
                if proc.poll() is not None:
                    running.remove(item)
                    res = json.loads(proc.stdout.read().splitlines()[-1])
                    done += 1
                    best = min(best, res["best"])
                    out.writerow([no_, *p.values(), res["iters"], round(res["best"], 5), round(time.time() - t0, 1)])
                    print(f"trial {no_} finished: l2={res['best']:.4f} after {res['iters']} trees (best so far {best:.4f})")


if __name__ == "__main__":
    trial(json.loads(sys.argv[1])) if len(sys.argv) > 1 else main()
