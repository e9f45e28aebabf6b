import csv
import itertools
import multiprocessing as mp
import random
import time

from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import cross_val_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = make_classification(6000, 30, n_informative=12, flip_y=0.05, random_state=0)


def candidate(seed):
    r = random.Random(seed)
    kind = r.choice(["gb", "mlp", "sgd"])
    if kind == "gb":
        est = HistGradientBoostingClassifier(max_iter=r.choice([40, 80, 150]), learning_rate=r.uniform(0.03, 0.3))
    elif kind == "mlp":
        est = make_pipeline(StandardScaler(), MLPClassifier((r.choice([32, 64]),), max_iter=25, alpha=10 ** r.uniform(-5, -2)))
    else:
        est = make_pipeline(StandardScaler(), SGDClassifier(alpha=10 ** r.uniform(-5, -2), max_iter=200))
    return kind, est


def evaluate(seed):
    import warnings
    warnings.filterwarnings("ignore")
    kind, est = candidate(seed)
    t = time.time()
    auc = cross_val_score(est, X, y, cv=3, scoring="roc_auc").mean()
    return seed, kind, auc, time.time() - t


if __name__ == "__main__":
    best = 0
    with open("results.csv", "w", newline="") as f, mp.Pool(2) as pool:
        out = csv.writer(f)
        out.writerow(["seed", "kind", "auc", "seconds"])
        for block in itertools.count():
            for seed, kind, auc, sec in pool.imap_unordered(evaluate, range(block * 20, block * 20 + 20)):
                out.writerow([seed, kind, f"{auc:.4f}", f"{sec:.2f}"])
                f.flush()
                if auc > best:
                    best = auc
                    print(f"new best: {kind} auc={auc:.4f} (seed {seed})", flush=True)
            print(f"block {block} finished, best so far {best:.4f}", flush=True)
