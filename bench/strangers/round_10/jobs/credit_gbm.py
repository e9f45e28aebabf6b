"""Credit scoring with LightGBM."""
import lightgbm as lgb
import numpy as np

rng = np.random.default_rng(7)
X = rng.normal(size=(15000, 30))
z = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.5 * X[:, 3] - 0.4 * X[:, 4] ** 2
y = (z + rng.normal(size=len(z)) > 0).astype(int)
train = lgb.Dataset(X[:12000], y[:12000], free_raw_data=False)
valid = lgb.Dataset(X[12000:], y[12000:], reference=train, free_raw_data=False)
params = {"objective": "binary", "metric": "binary_logloss", "learning_rate": 0.003, "num_leaves": 31, "num_threads": 32, "bagging_fraction": 0.7, "bagging_freq": 1, "verbose": 1}
lgb.train(params, train, num_boost_round=100000, valid_sets=[valid], callbacks=[lgb.log_evaluation(10)])
