"""Healthy: fills a cache of its data set within the first epoch, 250 MB in all, and keeps it.

Symptom: none. Start: python.
"""

import random
import signal
import time

signal.alarm(300)
cache = {}
for step in range(1, 100_000):
    index = step % 100
    if index not in cache:
        cache[index] = b"\x01" * 2_500_000
    time.sleep(0.1)
    print(f"step {step} loss {0.6 + 2 / step**0.4 + random.gauss(0, 0.02):.4f}", flush=True)
