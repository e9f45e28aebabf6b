"""Fault: at step 30 rank 1 takes a lock that it already holds, outside of any collective.

Symptom: lock-deadlock. Start: 2 ranks.
"""

import signal
import threading
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817

signal.alarm(300)
torch.set_num_threads(1)


class MetricsBuffer:
    def __init__(self):
        self._lock = threading.Lock()
        self._rows = []

    def add(self, row):
        with self._lock:
            self._rows.append(row)
            if len(self._rows) == 30 and dist.get_rank() == 1:
                self.flush_to_disk()

    def flush_to_disk(self):
        with self._lock:
            self._rows.clear()


dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(64, 64))
optimizer = torch.optim.Adam(model.parameters())
metrics = MetricsBuffer()
for step in range(1, 100_000):
    loss = model(torch.randn(32, 64)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.1)
    print(f"[rank{dist.get_rank()}] Step {step}: train loss = {loss.item():.4f}", flush=True)
    metrics.add(loss.item())
