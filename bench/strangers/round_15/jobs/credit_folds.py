"""신용 평가: 반복 교차 검증으로 XGBoost 학습."""
import datetime

import numpy as np
import xgboost as xgb
from sklearn.datasets import make_classification
from sklearn.model_selection import RepeatedStratifiedKFold


def 기록(글):
    print(f"[{datetime.datetime.now():%Y-%m-%d %H:%M:%S}] {글}", flush=True)


class 진행(xgb.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        if epoch % 10 == 0:
            기록(f"라운드 {epoch:4d}  학습 logloss {evals_log['학습']['logloss'][-1]:.5f}  검증 logloss {evals_log['검증']['logloss'][-1]:.5f}")
        return False


X, y = make_classification(30_000, 40, n_informative=15, n_redundant=8, flip_y=0.08, random_state=1)
X = X.astype("float32")
점수 = []
for i, (a, b) in enumerate(RepeatedStratifiedKFold(n_splits=5, n_repeats=40, random_state=2).split(X, y), 1):
    기록(f"=== 폴드 {i}/200 시작")
    학습, 검증 = xgb.DMatrix(X[a], y[a]), xgb.DMatrix(X[b], y[b])
    결과 = xgb.train(
        {"objective": "binary:logistic", "eval_metric": ["auc", "logloss"], "max_depth": 7, "eta": 0.08, "subsample": 0.8, "colsample_bytree": 0.7, "nthread": 1, "tree_method": "hist", "seed": i},
        학습, 400, evals=[(학습, "학습"), (검증, "검증")], early_stopping_rounds=20, callbacks=[진행()], verbose_eval=False,
    )
    점수.append(결과.best_score)
    결과.save_model(f"fold_{i:03d}.ubj")
    기록(f"=== 폴드 {i} 끝: 최고 라운드 {결과.best_iteration}, 검증 logloss {결과.best_score:.5f}, 평균 {np.mean(점수):.5f}")
