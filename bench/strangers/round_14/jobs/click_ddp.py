import json
import os
import threading
import time

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Metrics:
    def __init__(self):
        self.lock = threading.RLock()
        self.values = []
        self.sink = None

    def add(self, v):
        with self.lock:
            self.values.append(v)
            q = np.percentile(np.array(self.values[-2000:] * 60), [5, 50, 95])
            if self.sink is not None:
                self.sink.put({"p5": q[0], "p50": q[1], "p95": q[2]})

    def snapshot(self):
        with self.lock:
            return {"n": len(self.values), "mean": float(np.mean(self.values[-200:]))}


class Sink(threading.Thread):
    def __init__(self, metrics, every):
        super().__init__(name="metrics-sink", daemon=True)
        self.lock, self.queue, self.metrics, self.every = threading.Lock(), [], metrics, every

    def put(self, item):
        with self.lock:
            self.queue.append(item)

    def run(self):
        while True:
            time.sleep(self.every)
            with self.lock:
                with open("metrics.jsonl", "a") as f:
                    for item in self.queue:
                        f.write(json.dumps(item) + "\n")
                    f.flush()
                    os.fsync(f.fileno())
                    f.write(json.dumps(self.metrics.snapshot()) + "\n")
                self.queue.clear()


dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(11)
model = DDP(torch.nn.Sequential(torch.nn.Linear(200, 400), torch.nn.ReLU(), torch.nn.Linear(400, 1)))
opt = torch.optim.Adagrad(model.parameters(), 0.01)
w = torch.randn(200, 1)
metrics = Metrics()
if rank == 0:
    metrics.sink = Sink(metrics, every=5.0)
    metrics.sink.start()
for step in range(1, 10 ** 7):
    x = torch.randn(512, 200)
    y = (torch.sigmoid(x @ w / 5) > torch.rand(512, 1)).float()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    metrics.add(loss.item())
    if rank == 0 and step % 10 == 0:
        print(f"step {step:6d}  logloss {loss.item():.4f}", flush=True)
