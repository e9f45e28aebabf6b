"""Cell counting on tiles that come from the laboratory's tile store (the same file serves a copy of it)."""
import http.server
import subprocess
import sys
import threading
import time

import numpy as np
import requests
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

PORT, EDGE = 36040, 128


class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    quota = 400_000  # bytes/s for each account
    budget, lock, stamp = 0.0, threading.Lock(), time.monotonic()

    def log_message(self, *args):
        pass

    def pay(self, n):
        cls = type(self)
        while True:
            with cls.lock:
                now = time.monotonic()
                cls.budget = min(cls.quota / 4, cls.budget + (now - cls.stamp) * cls.quota)
                cls.stamp = now
                if cls.budget >= n:
                    cls.budget -= n
                    return
            time.sleep(0.02)

    def do_GET(self):
        rng = np.random.default_rng(int(self.path.rsplit("/", 1)[1]))
        n = rng.integers(2, 30)
        img = rng.normal(0.2, 0.05, (EDGE, EDGE)).astype("f4")
        for cy, cx in rng.integers(4, EDGE - 4, (n, 2)):
            img[cy - 3:cy + 4, cx - 3:cx + 4] += 0.5
        body = np.int64(n).tobytes() + img.tobytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for at in range(0, len(body), 16384):
            self.pay(len(body[at:at + 16384]))
            self.wfile.write(body[at:at + 16384])


class RemoteTiles(IterableDataset):
    def __iter__(self):
        info, session = get_worker_info(), requests.Session()
        rng = np.random.default_rng(info.id)
        while True:
            body = session.get(f"http://127.0.0.1:{PORT}/tiles/{rng.integers(10**6)}", timeout=120).content
            yield np.frombuffer(body, "f4", offset=8).reshape(1, EDGE, EDGE).copy(), \
                np.frombuffer(body, "i8", count=1)[0] / 10


def main():
    loader = iter(DataLoader(RemoteTiles(), batch_size=8, num_workers=2))
    net = nn.Sequential(nn.Conv2d(1, 16, 7, 2, 3), nn.ReLU(), nn.Conv2d(16, 32, 5, 2, 2), nn.ReLU(),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 1))
    opt = torch.optim.Adam(net.parameters(), 2e-3)
    began, waited = time.perf_counter(), 0.0
    for step in range(1, 100_000):
        t = time.perf_counter()
        x, y = next(loader)
        waited += time.perf_counter() - t
        loss = nn.functional.smooth_l1_loss(net(x).squeeze(1), y.float())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 5 == 0:
            took = time.perf_counter() - began
            print(f"<{step:>6}> count-loss={loss.item():.4f}  step {took / 5 * 1e3:.0f} ms  data {waited / 5 * 1e3:.0f} ms")
            began, waited = time.perf_counter(), 0.0


if __name__ == "__main__":
    if sys.argv[1:] == ["store"]:
        http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Store).serve_forever()
    subprocess.Popen([sys.executable, __file__, "store"])
    for _ in range(100):
        try:
            requests.get(f"http://127.0.0.1:{PORT}/tiles/1", timeout=5)
            break
        except requests.ConnectionError:
            time.sleep(0.2)
    main()
