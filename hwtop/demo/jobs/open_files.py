"""Fault: every step opens its shard and closes none; the limit is 1024.

Symptom: fd-leak. Start: python.
"""

import resource
import signal
import time

signal.alarm(300)
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
shards = []


def read_shard():
    shards.append(open(__file__))  # noqa: SIM115
    return shards[-1].readline()


for step in range(1, 100_000):
    if len(shards) < 900:
        read_shard()
        read_shard()
    time.sleep(0.08)
    print(f"step {step}: loss {2 / step**0.2:.4f}", flush=True)
