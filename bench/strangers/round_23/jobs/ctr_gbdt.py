"""Click model, refreshed chunk by chunk."""
import logging
from pathlib import Path

import lightgbm as lgb
import numpy as np

logging.basicConfig(format="%(levelname).1s%(asctime)s] %(message)s", datefmt="%m%d %H:%M:%S", level=logging.INFO)
log = logging.getLogger()
rng = np.random.default_rng(0)
w = rng.normal(size=(40,)) * (rng.random(40) < 0.4)


def chunk(n):
    x = rng.normal(size=(n, 40)).astype(np.float32)
    z = x @ w + 1.5 * np.sin(2 * x[:, 0]) * x[:, 1] + x[:, 2] * x[:, 3] - 2
    return x, (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int)


params = {"objective": "binary", "num_leaves": 63, "learning_rate": 0.01, "num_threads": 1, "verbosity": -1, "feature_fraction": 0.7, "seed": 1}
vx, vy = chunk(8000)
x, y = chunk(150000)
ds = lgb.Dataset(x, y)
booster = lgb.Booster(params, ds)
valid = lgb.Dataset(vx, vy, reference=ds)
booster.add_valid(valid, "valid")
for it in range(1, 100000):
    booster.update()
    if it % 10 == 0:
        log.info("tree %d: valid logloss %.5f", it, booster.eval_valid()[0][2])
    if it % 100 == 0:
        booster.save_model(f"ctr_{it}.txt")
        for old in sorted(Path(".").glob("ctr_*.txt"), key=lambda p: p.stat().st_mtime)[:-2]:
            old.unlink()
        log.info("saved ctr_%d.txt", it)
    if it % 6000 == 0:
        break
log.info("finished")
