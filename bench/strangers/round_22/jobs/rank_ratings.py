"""Implicit-feedback matrix factorisation (BPR). Prints a status line every second."""
import collections
import queue
import signal
import threading
import time

import numpy as np
import torch

torch.set_num_threads(1)
USERS, ITEMS, DIM = 6000, 4000, 48


class Meter:
    def __init__(self, window=6000):
        self.lock = threading.Lock()
        self.values = collections.defaultdict(lambda: collections.deque(maxlen=window))
        self.view = {}
        self.count = 0

    def add(self, **kw):
        with self.lock:
            for name, value in kw.items():
                row = self.values[name]
                row.append(value)
                arr = np.fromiter(row, float)
                self.view[name] = (arr[-50:].mean(), *np.percentile(arr, (10, 50, 90)))
            self.count += 1

    def line(self):
        with self.lock:
            parts = [f"{k} {m:.4f} (p10 {a:.4f} p50 {b:.4f} p90 {c:.4f})" for k, (m, a, b, c) in self.view.items()]
            return f"n={self.count} " + " ; ".join(parts)


meter = Meter()
todo = queue.Queue(maxsize=8)
gen = np.random.default_rng(0)
pu, pi = gen.normal(size=(USERS, 8)), gen.normal(size=(ITEMS, 8))


def feeder():
    rng = np.random.default_rng(1)
    while True:
        t = time.perf_counter()
        u = rng.integers(0, USERS, 512)
        a, b = rng.integers(0, ITEMS, (2, 512))
        swap = (pu[u] * pi[a]).sum(1) < (pu[u] * pi[b]).sum(1)
        a[swap], b[swap] = b[swap], a[swap]
        todo.put(tuple(map(torch.from_numpy, (u, a, b))))
        meter.add(feed=time.perf_counter() - t)


U = torch.nn.Embedding(USERS, DIM, sparse=True)
V = torch.nn.Embedding(ITEMS, DIM, sparse=True)
for e in (U, V):
    torch.nn.init.normal_(e.weight, std=0.1)
opt = torch.optim.SparseAdam([*U.parameters(), *V.parameters()], lr=1e-2)


def status(signum, frame):
    print(time.strftime("%H:%M:%S"), meter.line())


threading.Thread(target=feeder, daemon=True).start()
signal.signal(signal.SIGALRM, status)
signal.setitimer(signal.ITIMER_REAL, 1.0, 1.0)
print("training: bpr, users", USERS, "items", ITEMS)
while True:
    u, a, b = todo.get()
    x = (U(u) * (V(a) - V(b))).sum(1)
    loss = -torch.nn.functional.logsigmoid(x).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    meter.add(loss=loss.item(), auc=(x > 0).float().mean().item(), margin=x.detach().mean().item())
