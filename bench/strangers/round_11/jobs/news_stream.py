"""Online topic model for the news spool: read what has arrived, learn, sleep until the next delivery."""
import json
import multiprocessing as mp
import os
import time
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

SPOOL = Path("spool")
TOPICS = 8


def deliver():
    rng = np.random.default_rng(0)
    n = 0
    while os.getppid() != 1:
        docs = []
        for _ in range(int(rng.integers(15000, 22000))):
            topic = int(rng.integers(TOPICS))
            words = rng.zipf(1.3, 40) % 3000 * TOPICS + np.where(rng.random(40) < 0.3, topic, rng.integers(0, TOPICS, 40))
            docs.append((" ".join(f"w{w}" for w in words), topic))
        tmp = SPOOL / f"{n:06d}.tmp"
        tmp.write_text(json.dumps(docs))
        tmp.rename(SPOOL / f"{n:06d}.json")
        n += 1
        time.sleep(3)


def emit(**kw):
    print(json.dumps({"ts": round(time.time(), 2), **kw}), flush=True)


def main():
    SPOOL.mkdir(exist_ok=True)
    mp.Process(target=deliver, daemon=True, name="delivery").start()
    vec = HashingVectorizer(n_features=2 ** 14, alternate_sign=False)
    clf = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.02, alpha=1e-6)
    step = 0
    emit(event="start", poll_s=1)
    while True:
        ready = sorted(SPOOL.glob("*.json"))
        if not ready:
            time.sleep(1)
            continue
        for path in ready:
            docs = json.loads(path.read_text())
            y = np.array([t for _, t in docs])
            for i in range(0, len(docs), 64):
                x = vec.transform(d for d, _ in docs[i:i + 64])
                loss = log_loss(y[i:i + 64], clf.predict_proba(x), labels=range(TOPICS)) if step else float(np.log(TOPICS))
                clf.partial_fit(x, y[i:i + 64], classes=np.arange(TOPICS))
                step += 1
                if step % 10 == 0:
                    emit(event="train", step=step, loss=round(loss, 4))
            path.unlink()
            emit(event="delivery_done", file=path.name, docs=len(docs), next="waiting for delivery")


if __name__ == "__main__":
    main()
