"""Rolling-origin backtest of a demand forecast for an online shop, LightGBM."""
import sys
import time

import lightgbm as lgb
import numpy as np
import pandas as pd

ARTICLES, DAYS = 120, 420
rng = np.random.default_rng(8)


def history():
    frames = []
    for a in range(ARTICLES):
        day = np.arange(DAYS)
        base = rng.lognormal(1.5, 0.6)
        price = base * (1 + 0.2 * (rng.random(DAYS) < 0.1) * -1) + rng.normal(0, 0.1, DAYS)
        mean = base * (1 + 0.5 * np.sin(2 * np.pi * (day + a) / 7) + 0.3 * np.sin(2 * np.pi * day / 365)) * np.exp(-0.05 * (price - base))
        frames.append(pd.DataFrame({"article": a, "day": day, "price": price, "sold": rng.poisson(np.maximum(mean, 0.1))}))
    return pd.concat(frames, ignore_index=True)


def features(df):
    df = df.sort_values(["article", "day"]).copy()
    g = df.groupby("article")["sold"]
    for lag in (1, 2, 3, 7, 14, 21, 28):
        df[f"lag{lag}"] = g.shift(lag)
    for w in (7, 14, 28):
        df[f"mean{w}"] = g.transform(lambda s: s.shift(1).rolling(w).mean())
        df[f"q90_{w}"] = g.transform(lambda s: s.shift(1).rolling(w).quantile(0.9))
    df["weekday"] = df["day"] % 7
    return df.dropna()


def note(env):
    if env.iteration % 10 == 9:
        name, what, value = env.evaluation_result_list[0][:3]
        print(f"    {env.iteration + 1:>4d}  {what}={value:.5f}")


print(f"rolling backtest, {ARTICLES} articles x {DAYS} days")
sales = history()
fold = 0
while True:
    for origin in range(200, DAYS - 28, 14):
        fold += 1
        t0 = time.time()
        table = features(sales[sales["day"] < origin + 28])
        cols = [c for c in table.columns if c not in ("sold", "day")]
        past, ahead = table[table["day"] < origin], table[table["day"] >= origin]
        train = lgb.Dataset(past[cols], past["sold"], categorical_feature=["article", "weekday"])
        valid = lgb.Dataset(ahead[cols], ahead["sold"], reference=train)
        print(f"fold {fold} | origin day {origin} | {len(past)} rows | features {time.time() - t0:.1f}s")
        booster = lgb.train(
            dict(objective="poisson", metric="rmse", learning_rate=0.006, num_leaves=127, min_data_in_leaf=20, num_threads=1, verbosity=-1, seed=fold),
            train, num_boost_round=700, valid_sets=[valid], callbacks=[note])
        booster.save_model("latest.txt")
        print(f"fold {fold} | wape {np.abs(booster.predict(ahead[cols]) - ahead['sold']).sum() / ahead['sold'].sum():.4f} | {time.time() - t0:.1f}s")
