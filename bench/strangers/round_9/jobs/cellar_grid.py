"""Quality of wine lots: grid search with cross-validation over a forest and a boosted model."""

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

SEED = 21


def lots(n=2600, columns=12):
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(n, columns))
    quality = 5.6 + 0.5 * x[:, 0] - 0.4 * x[:, 1] * x[:, 2] + 0.3 * np.sin(2 * x[:, 3]) + 0.4 * rng.normal(size=n)
    return x, quality.clip(2, 9)


GRIDS = {
    "forest": (
        make_pipeline(StandardScaler(), RandomForestRegressor(random_state=SEED)),
        {
            "randomforestregressor__n_estimators": [60, 120, 240],
            "randomforestregressor__max_features": [0.3, 0.6],
            "randomforestregressor__min_samples_leaf": [1, 3, 10],
        },
    ),
    "boosting": (
        make_pipeline(PolynomialFeatures(2, include_bias=False), GradientBoostingRegressor(random_state=SEED)),
        {
            "gradientboostingregressor__n_estimators": [100, 200],
            "gradientboostingregressor__max_depth": [2, 3, 4],
            "gradientboostingregressor__learning_rate": [0.05, 0.1],
        },
    ),
}


def main():
    x, y = lots()
    folds = KFold(5, shuffle=True, random_state=SEED)
    for name, (pipeline, grid) in GRIDS.items():
        print(f"== {name}", flush=True)
        search = GridSearchCV(pipeline, grid, cv=folds, scoring="neg_root_mean_squared_error", verbose=3, n_jobs=1)
        search.fit(x, y)
        print(f"== {name}: best rmse {-search.best_score_:.4f} with {search.best_params_}", flush=True)
        order = np.argsort(search.cv_results_["rank_test_score"])[:3]
        for place, i in enumerate(order, 1):
            print(f"   {place}. {-search.cv_results_['mean_test_score'][i]:.4f} {search.cv_results_['params'][i]}", flush=True)


if __name__ == "__main__":
    main()
