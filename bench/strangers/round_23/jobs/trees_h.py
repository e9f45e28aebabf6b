import numpy as np, lightgbm as lgb
g = np.random.default_rng(5); X = g.normal(size=(60000, 30)); y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + X[:, 3:8].sum(1) * .3 + .5 * g.normal(size=60000)
a, b = lgb.Dataset(X[:50000], y[:50000]), None
b = lgb.Dataset(X[50000:], y[50000:], reference=a)
lgb.train({"objective": "l2", "num_threads": 1, "learning_rate": .004, "num_leaves": 63, "verbose": -1, "feature_fraction": .5},
          a, 200000, valid_sets=[b], valid_names=["holdout"], callbacks=[lgb.log_evaluation(10)])
