"""LightGBM with its callbacks."""

import lightgbm
from samples import rows

x, y = rows(100000)
lightgbm.train(
    {"objective": "binary", "metric": "binary_logloss", "learning_rate": 0.02, "num_threads": 1, "verbosity": 1},
    lightgbm.Dataset(x, y),
    100000,
    valid_sets=[lightgbm.Dataset(*rows(5000, seed=99))],
    callbacks=[lightgbm.log_evaluation(1)],
)
