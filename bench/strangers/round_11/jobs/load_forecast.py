# -*- coding: utf-8 -*-
"""電力需要予測:週ごとに窓をずらして再学習"""
import time

import numpy as np
import pandas as pd
import xgboost as xgb

rng = np.random.default_rng(0)
h = np.arange(24 * 365)
need = 100 + 20 * np.sin(h * 2 * np.pi / 24) + 9 * np.sin(h * 2 * np.pi / 168) + np.cumsum(rng.standard_normal(len(h))) * 0.2 + rng.standard_normal(len(h)) * 4
df = pd.DataFrame({"y": need, "hour": h % 24, "dow": h // 24 % 7})
for lag in (1, 2, 3, 24, 25, 48, 168):
    df[f"lag{lag}"] = df.y.shift(lag)
df = df.dropna()
week = 0
while True:
    for start in range(0, len(df) - 24 * 130, 24 * 7):
        week += 1
        tr, va = df.iloc[start:start + 24 * 120], df.iloc[start + 24 * 120:start + 24 * 127]
        dtr, dva = (xgb.DMatrix(d.drop(columns="y"), d.y) for d in (tr, va))
        t = time.time()
        print(f"=== 第{week}週 学習開始 (行数 {len(tr)}) ===", flush=True)
        log = {}
        bst = xgb.train({"max_depth": 7, "eta": 0.02, "nthread": 1, "subsample": 0.8, "objective": "reg:squarederror"}, dtr, 700,
                        [(dtr, "train"), (dva, "valid")], early_stopping_rounds=60, verbose_eval=50, evals_result=log)
        bst.save_model("need.json")
        print(f"第{week}週 完了: 最良 {bst.best_iteration} 回, rmse {bst.best_score:.3f}, {time.time() - t:.1f} 秒", flush=True)
