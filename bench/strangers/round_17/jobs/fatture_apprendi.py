"""Addestra un classificatore lineare sulle righe che arrivano da stdin."""
import argparse
import signal
import sys
import time
from itertools import islice

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

signal.alarm(300)
parser = argparse.ArgumentParser()
parser.add_argument("--lotto", type=int, default=128)
args = parser.parse_args()

vettori = HashingVectorizer(n_features=2**14, ngram_range=(1, 2))
modello = SGDClassifier(loss="log_loss", alpha=1e-5)
classi = np.arange(4)
lotto = 0
visti = 0
da = time.perf_counter()
while True:
    righe = list(islice(sys.stdin, args.lotto))
    if not righe:
        break
    campi = [r.rstrip("\n").split(";") for r in righe]
    x = vettori.transform(f"{c[2]} {c[5]}" for c in campi)
    y = np.array([int(c[7]) for c in campi])
    perdita = log_loss(y, modello.predict_proba(x), labels=classi) if lotto else float("nan")
    modello.partial_fit(x, y, classes=classi)
    lotto += 1
    visti += len(righe)
    if lotto % 10 == 0:
        ora = time.perf_counter()
        print(f"lotto {lotto} | righe {visti} | perdita {perdita:.4f} | {10 * args.lotto / (ora - da):.0f} righe/s", flush=True)
        da = ora
