"""Ranking of hotels per search with LightGBM's lambdarank; a progress line every 10 trees."""

import argparse

import lightgbm as lgb
import numpy as np


def searches(count, seed, columns=60):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(8, 40, size=count)
    x = rng.normal(size=(sizes.sum(), columns)).astype("float32")
    taste = x[:, 0] + 0.7 * np.maximum(x[:, 1], x[:, 2]) - 0.5 * np.abs(x[:, 3]) + 0.4 * x[:, 4] * x[:, 5]
    taste += 0.8 * rng.normal(size=len(x))
    relevance, at = np.zeros(len(x), int), 0
    for size in sizes:
        order = np.argsort(-taste[at : at + size])
        relevance[at + order[:1]] = 3
        relevance[at + order[1:4]] = 1
        at += size
    return x, relevance, sizes


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=6000)
    ap.add_argument("--leaves", type=int, default=63)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    x, y, groups = searches(5000, args.seed)
    train = lgb.Dataset(x, y, group=groups, free_raw_data=False)
    x, y, groups = searches(600, args.seed + 1)
    valid = lgb.Dataset(x, y, group=groups, reference=train)
    print(f"{len(y)} hotels in {len(groups)} searches to validate on", flush=True)
    params = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [5],
        "learning_rate": 0.01,
        "num_leaves": args.leaves,
        "feature_fraction": 0.8,
        "bagging_fraction": 0.7,
        "bagging_freq": 1,
        "num_threads": 1,
        "verbosity": 1,
        "seed": args.seed,
    }
    booster = lgb.train(
        params,
        train,
        num_boost_round=args.rounds,
        valid_sets=[valid],
        valid_names=["searches of March"],
        callbacks=[lgb.log_evaluation(10), lgb.early_stopping(1500, verbose=True)],
    )
    booster.save_model("hotels.txt")
    gain = booster.feature_importance("gain")
    for i in np.argsort(-gain)[:10]:
        print(f"feature {i}: {gain[i]:.0f}")


if __name__ == "__main__":
    main()
