"""Train the churn model on all local "machines" (one process each)."""
import argparse
import os
import subprocess
import sys

import lightgbm as lgb
import numpy as np

PORTS = [31130, 31131]


def worker(rank):
    rng = np.random.default_rng(rank)
    n = 30000
    X = rng.normal(size=(n, 40)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + rng.normal(0, 0.8, n) > 0).astype(int)
    Xv = rng.normal(size=(4000, 40)).astype(np.float32)
    yv = (Xv[:, 0] * Xv[:, 1] + np.sin(3 * Xv[:, 2]) + rng.normal(0, 0.8, 4000) > 0).astype(int)
    params = dict(
        objective="binary",
        metric="binary_logloss",
        tree_learner="data",
        num_machines=len(PORTS),
        machines=",".join(f"127.0.0.1:{p}" for p in PORTS),
        local_listen_port=PORTS[rank],
        pre_partition=True,
        num_threads=1,
        num_leaves=127,
        learning_rate=0.01,
        verbosity=-1,
    )
    cbs = [lgb.log_evaluation(10)]
    dtrain = lgb.Dataset(X, y)
    lgb.train(params, dtrain, 200000, valid_sets=[lgb.Dataset(Xv, yv, reference=dtrain)], callbacks=cbs)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--rank", type=int)
    a = ap.parse_args()
    if a.rank is not None:
        worker(a.rank)
        sys.exit()
    ps = []
    for r in range(len(PORTS)):
        env = dict(os.environ, RANK=str(r), WORLD_SIZE=str(len(PORTS)))
        out = None if r == 0 else open(f"machine{r}.log", "w")
        ps.append(subprocess.Popen([sys.executable, __file__, "--rank", str(r)], env=env, stdout=out, stderr=out))
    sys.exit(max(p.wait() for p in ps))
