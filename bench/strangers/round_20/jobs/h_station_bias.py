"""Bias correction of forecasts at weather stations: online ridge regression over monthly HDF5 archives."""
import functools
import pathlib

import h5py
import numpy as np
from sklearn.linear_model import SGDRegressor
from sklearn.preprocessing import PolynomialFeatures
from rich.console import Console

console = Console(width=100)
root = pathlib.Path("archive")
rng = np.random.default_rng(5)


def build(stations=80, months=24):
    root.mkdir(exist_ok=True)
    for s in range(stations):
        bias = rng.normal(size=8) * 0.4
        for m in range(months):
            with h5py.File(root / f"st{s:03d}_{m:02d}.h5", "w") as f:
                x = rng.normal(size=(720, 12)).astype("f4")
                f["forecast"] = x
                f["error"] = (x[:, :8] @ bias * 0.3 + x[:, 0] * x[:, 1] + 0.2 * rng.normal(size=720)).astype("f4")


@functools.lru_cache(maxsize=None)
def archive(path):
    return h5py.File(path, "r")


with console.status("building archive"):
    build()
paths = sorted(root.glob("*.h5"))
rng.shuffle(paths)
expand = PolynomialFeatures(3)
model = SGDRegressor(alpha=1e-5, learning_rate="constant", eta0=2e-5)
console.rule("fit")
window = []
for epoch in range(50):
    for k, path in enumerate(paths):
        f = archive(path)
        x, y = expand.fit_transform(f["forecast"][:] / 1.5), f["error"][:]
        if hasattr(model, "coef_"):
            window.append(float(np.mean((model.predict(x) - y) ** 2)))
        for _ in range(80):
            model.partial_fit(x, y)
        if k % 20 == 19:
            console.print(f"[bold]{epoch}[/]:{k + 1}/{len(paths)}  mse before/after seeing the month: {np.mean(window[-20:]):.4f}  "
                          f"/ {np.mean((model.predict(x) - y) ** 2):.4f}")
