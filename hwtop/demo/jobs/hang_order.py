"""Fault: at step 30 the main thread of rank 1 and its metrics thread take two locks, each the other's first.

Symptom: lock-deadlock. Start: 2 ranks.
"""

import signal
import threading
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)


class Metrics:
    def __init__(self, meeting):
        self.rows_lock = threading.Lock()
        self.file_lock = threading.Lock()
        self.meeting = meeting

    def add(self, row):
        with self.rows_lock:
            if self.meeting is not None:
                self.meeting.wait()
            self.write([row])

    def write(self, rows):
        with self.file_lock:
            rows.clear()

    def export(self):
        with self.file_lock:
            self.meeting.wait()
            with self.rows_lock:
                pass


def train():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    for step in range(1, 100_000):
        is_late = step == 30 and rank == 1
        metrics = Metrics(threading.Barrier(2) if is_late else None)
        if is_late:
            threading.Thread(target=metrics.export, name="exporter", daemon=True).start()
        grad = torch.randn(256)
        dist.all_reduce(grad)
        time.sleep(0.05)
        print(f"rank {rank} step {step} | loss {2.5 / step**0.1:8.4f}", flush=True)
        metrics.add(step)


train()
