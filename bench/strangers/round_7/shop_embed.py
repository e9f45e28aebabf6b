# two-tower recommender with a shared item cache
import queue, threading, time, sys
import numpy as np
import torch

class ItemCache:
    def __init__(self):
        self.items_lock = threading.Lock()
        self.stats_lock = threading.Lock()
        self.items, self.hits = {}, 0

    def get(self, k):
        with self.items_lock:
            v = self.items.get(k)
            if v is None:
                v = self.items[k] = np.random.rand(32).astype("f4")
            with self.stats_lock:
                self.hits += 1
        return v

    def rotate(self):
        with self.stats_lock:
            hits, self.hits = self.hits, 0
            time.sleep(0.02)
            with self.items_lock:
                if len(self.items) > 5000:
                    self.items.clear()
        return hits

cache = ItemCache()
q = queue.Queue(8)
warm = threading.Event()

def reader():
    rng = np.random.default_rng(0)
    while True:
        ids = rng.integers(0, 20000, 256)
        q.put(np.stack([cache.get(int(i)) for i in ids]))

def janitor():
    warm.wait()
    while True:
        time.sleep(1)
        print("janitor: %d lookups" % cache.rotate(), flush=True)

for f in (reader, janitor):
    threading.Thread(target=f, daemon=True, name=f.__name__).start()

user = torch.nn.Linear(32, 32)
item = torch.nn.Linear(32, 32)
opt = torch.optim.Adagrad([*user.parameters(), *item.parameters()], 0.05)
n, t = 0, time.time()
while time.time() - t < 400:
    x = torch.from_numpy(q.get())
    logits = user(x) @ item(x).T / 5
    loss = torch.nn.functional.cross_entropy(logits, torch.arange(len(x)))
    opt.zero_grad(); loss.backward(); opt.step()
    n += 1
    time.sleep(0.06)
    if n == 150:
        warm.set()
    if n % 25 == 0:
        print(f"it {n}  loss={loss.item():.3f}  cache={len(cache.items)}", flush=True)
