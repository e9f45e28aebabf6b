# 信用评分:随机搜索 xgboost 参数
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

import numpy as np
import xgboost as xgb

并行 = 4


def 数据(n=12000, d=40):
    rng = np.random.default_rng(7)
    x = rng.normal(size=(n, d)).astype(np.float32)
    z = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.5 * x[:, 3] + rng.normal(0, 0.5, n)
    return x, (z > 0).astype(int)


def 试验(编号, 参数):
    x, y = 数据()
    dtrain, dval = xgb.DMatrix(x[:10000], y[:10000]), xgb.DMatrix(x[10000:], y[10000:])
    结果 = {}
    t = time.time()
    xgb.train({"objective": "binary:logistic", "eval_metric": "auc", "tree_method": "hist", "nthread": 16, **参数},
              dtrain, num_boost_round=12, evals=[(dval, "val")], evals_result=结果, verbose_eval=False)
    return 编号, 结果["val"]["auc"][-1], time.time() - t


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    最好 = 0
    with ProcessPoolExecutor(并行) as 池:
        任务 = [池.submit(试验, i, {"max_depth": int(rng.integers(4, 9)), "eta": float(rng.uniform(0.03, 0.3)),
                                "subsample": float(rng.uniform(0.5, 1))}) for i in range(5000)]
        print("开始搜索", len(任务), "组参数", flush=True)
        for f in as_completed(任务):
            i, auc, 秒 = f.result()
            最好 = max(最好, auc)
            print(f"试验 {i} auc={auc:.4f} 最好={最好:.4f} 用时 {秒:.1f}s", flush=True)
