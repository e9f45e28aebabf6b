"""Adverse drug events from reports: lightgbm rounds over shards, whose features stay in a bounded cache."""
import collections
import time

import lightgbm as lgb
import numpy as np

LIMIT = 40


def features(shard):
    rng = np.random.default_rng(shard)
    x = rng.normal(size=(6000, 60))
    y = (x[:, 0] * x[:, 1] + x[:, 2] + 0.7 * rng.normal(size=6000) > 0).astype(int)
    return x, y


cache = collections.OrderedDict()
order = np.random.default_rng(0)
booster = None
for round_ in range(1, 100000):
    shard = int(order.integers(0, 60))
    if shard in cache:
        cache.move_to_end(shard)
    else:
        cache[shard] = features(shard)
        if len(cache) > LIMIT:
            cache.popitem(last=False)
    x, y = cache[shard]
    if booster is not None and booster.num_trees() >= 60:
        booster = None
    booster = lgb.train({"objective": "binary", "num_threads": 1, "verbosity": -1, "num_leaves": 31, "learning_rate": 0.1},
                        lgb.Dataset(x, y), num_boost_round=4, init_model=booster)
    if round_ % 5 == 0:
        p = np.clip(booster.predict(x[:1500], num_threads=1), 1e-6, 1 - 1e-6)
        loss = -(y[:1500] * np.log(p) + (1 - y[:1500]) * np.log(1 - p)).mean()
        print(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} round={round_} trees={booster.num_trees()} logloss={loss:.4f} "
              f"cache={len(cache)}/{LIMIT} shards", flush=True)
