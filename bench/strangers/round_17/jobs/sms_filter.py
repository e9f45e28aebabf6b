"""Out-of-core spam filter: hashed n-grams, two linear models side by side, a threshold search now and then."""
import csv
import random
import sys
import time

import numpy as np
from joblib import Parallel, delayed
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import f1_score

WORDS = [f"w{k}" for k in range(4000)]
SPAM = ["prize", "urgent", "claim", "winner", "voucher", "call-now"]


def chunk(day, rnd):
    n = int(rnd.lognormvariate(7.4, 0.7)) if day % 7 < 5 else 300      # little traffic at weekends
    n = min(n, 9000)
    texts, labels = [], []
    for _ in range(n):
        spam = rnd.random() < 0.18
        words = rnd.choices(WORDS, k=rnd.randint(6, 40))
        if spam and rnd.random() < 0.9:
            words.insert(rnd.randrange(len(words)), rnd.choice(SPAM))
        texts.append(" ".join(words))
        labels.append(int(spam))
    return texts, np.array(labels)


def fit(model, x, y):
    return model.partial_fit(x, y, classes=[0, 1])


def main():
    rnd = random.Random(3)
    vec = HashingVectorizer(n_features=2 ** 16, ngram_range=(1, 2), alternate_sign=False)
    models = [SGDClassifier(loss="log_loss", alpha=a, random_state=0) for a in (1e-5, 1e-4)]
    held = chunk(1, random.Random(999))
    hx = vec.transform(held[0])
    out = csv.writer(sys.stderr, delimiter="\t")
    out.writerow(["day", "messages", "secs", "f1_a", "f1_b", "threshold"])
    end = time.time() + 165
    threshold, day = 0.5, 0
    while time.time() < end:
        t0 = time.time()
        texts, y = chunk(day, rnd)
        x = vec.transform(texts)
        models = Parallel(n_jobs=2, prefer="threads")(delayed(fit)(m, x, y) for m in models)
        if day % 15 == 14:
            grid = np.linspace(0.1, 0.9, 60)
            probs = np.mean([m.predict_proba(hx)[:, 1] for m in models], axis=0)
            threshold = float(max(grid, key=lambda c: f1_score(held[1], probs > c)))
        scores = [f1_score(held[1], m.predict(hx)) for m in models]
        out.writerow([day, len(y), f"{time.time() - t0:.2f}", *(f"{s:.4f}" for s in scores), f"{threshold:.2f}"])
        day += 1


if __name__ == "__main__":
    main()
