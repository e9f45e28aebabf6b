"""Yield of orchards: extraction processes make the features of a season, then the regressor gets them."""
import multiprocessing as mp
import time

import numpy as np
from sklearn.linear_model import SGDRegressor
from sklearn.preprocessing import StandardScaler


def extract(block, trees, season, out):
    rng = np.random.default_rng(block * 1000 + season)
    canopy = rng.gamma(4, 1, (trees, 60))
    features = np.column_stack([canopy.mean(1), canopy.std(1), np.sort(canopy, 1)[:, -5:], canopy[:, ::6]])
    kilos = features[:, 0] * 12 + features[:, 1] * 3 + rng.normal(0, 1, trees)
    out.put((block, features.astype("float32"), kilos.astype("float32")))


def main():
    ctx = mp.get_context("fork")
    model, scaler = SGDRegressor(learning_rate="constant", eta0=2e-3), StandardScaler()
    for season in range(2001, 2400):
        results = ctx.Queue()
        trees = 120 * (season - 2000)
        procs = [ctx.Process(target=extract, args=(b, trees, season, results), name=f"block-{b}") for b in range(3)]
        for p in procs:
            p.start()
        for p in procs:
            p.join()
        blocks = [results.get() for _ in procs]
        x = np.concatenate([b[1] for b in blocks])
        y = np.concatenate([b[2] for b in blocks])
        scaler.partial_fit(x)
        for epoch in range(8):
            for i in range(0, len(x), 64):
                model.partial_fit(scaler.transform(x[i:i + 64]), y[i:i + 64])
            rmse = float(np.sqrt(np.mean((model.predict(scaler.transform(x)) - y) ** 2)))
            print(f'{{"season": {season}, "epoch": {epoch}, "rmse": {rmse:.3f}, "trees": {len(x)}}}', flush=True)
            time.sleep(0.15)


if __name__ == "__main__":
    main()
