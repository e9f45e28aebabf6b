"""Grid search for a credit score (scikit-learn), two processes."""
import os
import signal
import time

os.environ["JOBLIB_TEMP_FOLDER"] = os.path.abspath(".")

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

if __name__ == "__main__":
    signal.alarm(320)
    x, y = make_classification(12000, 40, n_informative=12, flip_y=0.08, random_state=2)
    begin = time.time()
    grids = [
        (RandomForestClassifier(n_estimators=120, random_state=0),
         {"randomforestclassifier__max_depth": [4, 8, 12, None], "randomforestclassifier__min_samples_leaf": [1, 5]}),
        (HistGradientBoostingClassifier(random_state=0),
         {"histgradientboostingclassifier__max_leaf_nodes": [15, 31], "histgradientboostingclassifier__learning_rate": [0.05, 0.1]}),
    ]
    rounds = 0
    while time.time() - begin < 170:
        for estimator, grid in grids:
            search = GridSearchCV(make_pipeline(QuantileTransformer(random_state=rounds), estimator), grid, cv=3, n_jobs=2,
                                  scoring="roc_auc", verbose=2)
            keep = np.random.default_rng(rounds).permutation(len(x))[:9000]
            search.fit(x[keep], y[keep])
            print(f"== {type(estimator).__name__}: best {search.best_score_:.4f} {search.best_params_}", flush=True)
        rounds += 1
