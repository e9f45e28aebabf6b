"""Fault: each step searches all that was seen before for duplicates, so steps become slower and slower.

Symptom: step-time-rising. Start: python.
"""

import random
import signal
import time

signal.alarm(300)
seen = []


def is_duplicate(sample):
    time.sleep(0.00012 * len(seen))  # the search, without heating the machine
    return sample in seen


started = time.perf_counter()
for step in range(1, 100_000):
    sample = random.random()
    if not is_duplicate(sample):
        seen.append(sample)
    time.sleep(0.04)
    now = time.perf_counter()
    print(
        f"step {step} loss {2 / step**0.2 + random.gauss(0, 0.01):.4f} {1000 * (now - started):.1f} ms/step", flush=True
    )
    started = now
