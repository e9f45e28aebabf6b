"""Fraud score of insurance claims: SGD on batches whose profiles come from the feature store."""
import csv
import os
import pickle
import socket
import socketserver
import struct
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

PORT = 31010


class Answer(socketserver.BaseRequestHandler):
    def handle(self):
        while head := self.request.recv(8):
            n, seed = struct.unpack("<II", head)
            rows = np.random.default_rng(seed).normal(size=(n, 30)).astype(np.float32).tobytes()
            self.request.sendall(struct.pack("<I", len(rows)) + rows)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


class FeatureStore:
    """Profiles by batch id."""

    def __init__(self):
        self.sessions = {}

    def session(self, batch):
        if batch not in self.sessions:
            self.sessions[batch] = socket.create_connection(("127.0.0.1", PORT))
        return self.sessions[batch]

    def profiles(self, batch, n):
        s = self.session(batch)
        s.sendall(struct.pack("<II", n, batch))
        size = struct.unpack("<I", self.exactly(s, 4))[0]
        return np.frombuffer(self.exactly(s, size), np.float32).reshape(n, 30)

    def exactly(self, s, n):
        data = b""
        while len(data) < n:
            data += s.recv(min(65536, n - len(data)))
        return data


def train():
    store, model = FeatureStore(), SGDClassifier(loss="log_loss", alpha=1e-4)
    w = np.random.default_rng(1).normal(size=30)
    with open("progress.csv", "w", newline="", buffering=1) as f:
        out = csv.writer(f)
        out.writerow(["elapsed", "batch", "logloss"])
        t0 = time.time()
        for batch in range(1, 1_000_000):
            x = store.profiles(batch, 3000)
            y = (x @ w + np.random.default_rng(batch).normal(size=len(x)) > 0).astype(int)
            if batch > 1 and batch % 5 == 0:
                out.writerow([round(time.time() - t0, 2), batch, round(log_loss(y, model.predict_proba(x), labels=[0, 1]), 5)])
            for _ in range(280):
                model.partial_fit(x, y, classes=[0, 1])


if __name__ == "__main__":
    if "serve" in sys.argv:
        Server(("127.0.0.1", PORT), Answer).serve_forever()
    server = subprocess.Popen([sys.executable, __file__, "serve"])
    time.sleep(3)
    try:
        train()
    finally:
        server.kill()
