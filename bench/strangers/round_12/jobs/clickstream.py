"""Click model that learns from minute files as they come in (replayed at ten times real time)."""
import multiprocessing as mp
import time
from pathlib import Path

import numpy as np
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import roc_auc_score

INBOX = Path("inbox")
MINUTE = 6.0


def gateway():
    """Writes a file a minute, as the gateway does."""
    r = np.random.default_rng(0)
    begin = time.monotonic()
    for minute in range(10000):
        n = int(r.poisson(9000))
        user, page, hour = r.integers(0, 4000, n), r.zipf(1.3, n) % 500, np.full(n, minute // 60 % 24)
        click = ((user * 31 + page * 17) % 11 < 3) ^ (r.random(n) < 0.2)
        temp = INBOX / f".{minute:06d}"
        np.savez(temp.with_suffix(".npz"), user=user, page=page, hour=hour, click=click)
        temp.with_suffix(".npz").rename(INBOX / f"minute_{minute:06d}.npz")
        time.sleep(max(0.0, begin + (minute + 1) * MINUTE - time.monotonic()))


def main():
    INBOX.mkdir(exist_ok=True)
    mp.Process(target=gateway, daemon=True).start()
    hasher, model, nxt = FeatureHasher(2**16, input_type="string"), SGDClassifier(loss="log_loss", alpha=1e-6), 0
    while True:
        path = INBOX / f"minute_{nxt:06d}.npz"
        if not path.exists():
            time.sleep(0.2)
            continue
        began = time.monotonic()
        d = np.load(path)
        tokens = [(f"u{u}", f"p{p}", f"h{h}", f"x{(u * 31 + p * 17) % 11}") for u, p, h in zip(d["user"], d["page"], d["hour"])]
        x, y = hasher.transform(tokens), d["click"].astype(int)
        auc = roc_auc_score(y, model.predict_proba(x)[:, 1]) if nxt else float("nan")
        for part in range(0, len(y), 500):
            for _ in range(120):
                model.partial_fit(x[part : part + 500], y[part : part + 500], classes=[0, 1])
        path.unlink()
        nxt += 1
        progressive = "first file" if nxt == 1 else f"progressive AUC {auc:.4f}"
        print(f"minute {nxt - 1:05d}  events {len(y):5d}  {progressive}  learned in {time.monotonic() - began:.2f}s, waiting for the next", flush=True)


if __name__ == "__main__":
    main()
