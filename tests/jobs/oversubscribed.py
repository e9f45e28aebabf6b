"""Fault: sixteen compute threads a rank, whatever the machine has. Set OMP_NUM_THREADS=16 as well.

Bound to four cores at most, so that a large machine shows the fault too.

Symptom: cpu-oversubscribed. Start: 2 ranks, OMP_NUM_THREADS=16.
"""

import os
import signal

os.environ["OMP_NUM_THREADS"] = "16"
os.environ.setdefault("OMP_WAIT_POLICY", "ACTIVE")
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:4])

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

signal.alarm(300)
torch.set_num_threads(16)
dist.init_process_group("gloo")
a = torch.randn(1024, 1024)
for step in range(1, 100_000):
    b = a @ a
    dist.all_reduce(b[:1])
    print(f"step {step} loss {1 / step:.4f}", flush=True)
