"""Click model: logistic factorisation over features of the online store."""
import os
import socket
import struct
import subprocess
import sys
import time

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from tqdm import tqdm

PORT = 23230
here = os.path.dirname(os.path.abspath(__file__))


class Store:
    def __init__(self, port):
        for _ in range(100):
            try:
                self.s = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                time.sleep(0.1)

    def get(self, key):
        raw = key.encode()
        self.s.send(struct.pack("<I", len(raw)))
        self.s.send(raw)
        out = b""
        while len(out) < 256:
            out += self.s.recv(256 - len(out))
        return np.frombuffer(out, np.float32)


def main():
    server = subprocess.Popen([sys.executable, f"{here}/n_featserver.py", str(PORT)])
    store = Store(PORT)
    rng = np.random.default_rng(0)
    w = rng.normal(size=64) / 8
    model = SGDClassifier(loss="log_loss", alpha=1e-4, learning_rate="constant", eta0=0.02)
    bar = tqdm(total=20000, desc="clicks", mininterval=1, file=sys.stdout, ascii=True)
    for step in range(20000):
        users = rng.integers(50000, size=32)
        x = np.stack([store.get(f"user:{u}") for u in users])
        x = np.concatenate([x, x ** 2, x[:, :32] * x[:, 32:]], 1)
        y = (rng.random(32) < 1 / (1 + np.exp(-4 * (x[:, :64] @ w)))).astype(int)
        model.partial_fit(x, y, classes=[0, 1])
        bar.update()
        if step % 5 == 0:
            bar.set_postfix(logloss=f"{log_loss(y, model.predict_proba(x), labels=[0, 1]):.4f}")
    server.terminate()


main()
