"""Serves audio shards over HTTP: GET /shards/<n>.pcm (16 utterances, int16, 16 kHz, labels in a header). --egress: bytes/s of the account."""
import argparse
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

ap = argparse.ArgumentParser()
ap.add_argument("--port", type=int)
ap.add_argument("--egress", type=int)
args = ap.parse_args()


class Budget:
    def __init__(self, rate):
        self.rate, self.free, self.lock = rate, time.monotonic(), threading.Lock()

    def take(self, n):
        with self.lock:
            self.free = max(self.free, time.monotonic()) + n / self.rate
            return self.free - time.monotonic()


budget = Budget(args.egress)


def shard(n):
    rng = np.random.default_rng(n)
    y = rng.integers(0, 8, 16)
    t = np.arange(16000) / 16000
    f = 180 + 60 * y + rng.normal(0, 15, 16)
    x = sum(np.sin(2 * np.pi * np.outer(f * h, t)) / h for h in (1, 2, 3)) + rng.normal(0, 1.2, (16, 16000))
    return (x * 4000).clip(-32767, 32767).astype("<i2").tobytes(), ",".join(map(str, y))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body, labels = shard(int(self.path.rsplit("/", 1)[1].split(".")[0]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Labels", labels)
        self.end_headers()
        for at in range(0, len(body), 8192):
            part = body[at:at + 8192]
            time.sleep(max(0, budget.take(len(part))))
            self.wfile.write(part)

    def log_message(self, *a):
        pass


ThreadingHTTPServer(("127.0.0.1", args.port), Handler).serve_forever()
