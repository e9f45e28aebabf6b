"""Online spam filter: polls the inbox spool, learns what came in, publishes the model."""
import datetime
import logging
import pickle
import random
import sys
import time

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname).1s %(asctime)s %(message)s")
WORDS = [f"w{i}" for i in range(3000)]
SPAM = [f"offer{i}" for i in range(40)]
POLL_S = 4
r = random.Random(5)


def spool():
    """What has arrived since the last poll."""
    n = r.randint(6000, 14000)
    texts, labels = [], []
    for _ in range(n):
        s = r.random() < 0.3
        t = r.choices(WORDS, k=60) + (r.choices(SPAM, k=2) if s and r.random() < 0.9 else [])
        texts.append(" ".join(t))
        labels.append(int(s))
    return texts, labels


vec = HashingVectorizer(n_features=2**16)
clf = SGDClassifier(loss="log_loss", alpha=1e-6)
round_ = 0
while True:
    round_ += 1
    texts, labels = spool()
    X = vec.transform(texts)
    if round_ > 1:
        p = np.clip(clf.predict_proba(X)[:, 1], 1e-6, 1 - 1e-6)
        y = np.array(labels)
        ll = -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean()
        logging.info("round %d: %d mails, logloss before update %.4f, accuracy %.3f", round_, len(texts), ll, ((p > 0.5) == y).mean())
    for _ in range(3):
        clf.partial_fit(X, labels, classes=[0, 1])
    with open("model.pkl", "wb") as f:
        pickle.dump(clf, f)
    nxt = datetime.datetime.now() + datetime.timedelta(seconds=POLL_S)
    logging.info("round %d done, model published, next poll at %s", round_, nxt.strftime("%H:%M:%S"))
    time.sleep(POLL_S)
