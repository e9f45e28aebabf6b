"""Healthy: batches of very different lengths, so steps take 50 to 900 ms, with a long one now and then.

Symptom: none. Start: python.
"""

import random
import signal
import time

signal.alarm(300)
for step in range(1, 100_000):
    tokens = int(min(8000, 400 * random.lognormvariate(0, 0.9)))
    took = 0.05 + tokens / 9000
    time.sleep(took)
    loss = 1.8 + 2 / step**0.3 + random.gauss(0, 0.15)
    print(f"step {step} | loss {loss:.3f} | {tokens} tokens | {1000 * took:.0f} ms", flush=True)
