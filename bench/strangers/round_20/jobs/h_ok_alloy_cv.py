"""Yield strength of alloys: repeated cross-validation with LightGBM."""
import lightgbm as lgb
import numpy as np
from sklearn.model_selection import RepeatedKFold

rng = np.random.default_rng(2)
n = 40_000
x = rng.dirichlet(np.ones(14) * 0.6, n)
temper = rng.uniform(200, 900, n)
y = 300 + 900 * x[:, 0] + 1500 * x[:, 1] * x[:, 2] + 400 * np.sqrt(x[:, 3]) - 0.3 * temper * x[:, 4] + 80 * np.sin(temper / 90) + rng.normal(0, 12, n)
x = np.column_stack([x, temper, x[:, :5] * temper[:, None]])
scores = []
for fold, (a, b) in enumerate(RepeatedKFold(n_splits=5, n_repeats=20, random_state=0).split(x)):
    print(f"=== repeat {fold // 5 + 1}/20, fold {fold % 5 + 1}/5")
    fit, held = lgb.Dataset(x[a], y[a]), lgb.Dataset(x[b], y[b])
    model = lgb.train(
        {"objective": "regression", "metric": "rmse", "learning_rate": 0.04, "num_leaves": 63, "num_threads": 1, "verbosity": -1, "seed": fold},
        fit, 900, valid_sets=[held], valid_names=["held"],
        callbacks=[lgb.early_stopping(60, verbose=True), lgb.log_evaluation(25)],
    )
    scores.append(model.best_score["held"]["rmse"])
    model.save_model(f"fold{fold:03d}.txt")
    print(f"    rmse {scores[-1]:.2f} MPa at {model.best_iteration} trees; mean so far {np.mean(scores):.2f} +- {np.std(scores):.2f}")
