import itertools
import os
import warnings

import numpy as np
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import StandardScaler


class quiet:
    """BLAS and friends write to the descriptors themselves, so redirecting sys.stdout is not enough."""

    def __init__(self):
        self.null = [os.open(os.devnull, os.O_RDWR) for _ in range(2)]
        self.saved = (os.dup(1), os.dup(2))

    def __enter__(self):
        os.dup2(self.null[0], 1)
        os.dup2(self.null[1], 2)

    def __exit__(self, *_):
        os.dup2(self.saved[0], 1)
        os.dup2(self.saved[1], 2)
        os.close(self.null[0])
        os.close(self.null[1])


warnings.simplefilter("ignore")
rng = np.random.default_rng(9)
W = rng.normal(size=(24, 10)) / 2


def chunk(n=12000):
    x = rng.normal(size=(n, 24))
    h = np.tanh(x @ W)
    y = h[:, 0] * h[:, 1] + np.sin(2 * h[:, 2]) + 0.4 * h[:, 3] + h[:, 4] * h[:, 5] * h[:, 6] + 0.05 * rng.normal(size=n)
    return x, y * 10 + 40


scale = StandardScaler()
hold, truth = chunk(4000)
model = MLPRegressor(hidden_layer_sizes=(128, 64), learning_rate_init=3e-4, batch_size=64, random_state=0)
for hour in itertools.count():
    x, y = chunk()
    with quiet():
        scale.partial_fit(y[:, None])
        model.partial_fit(x, scale.transform(y[:, None])[:, 0])
    with quiet():
        p = scale.inverse_transform(model.predict(hold)[:, None])[:, 0]
    if hour % 2 == 0:
        print(f"hour={hour:05d} fit_loss={model.loss_:.5f} holdout_rmse={np.sqrt(np.mean((p - truth) ** 2)):.4f}")
