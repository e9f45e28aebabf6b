"""Healthy: the learning rate warms up, the loss first rises, gradients are large at first, and the first steps are slow.

Symptom: none. Start: python.
"""

import math
import random
import signal
import time

signal.alarm(300)
for step in range(1, 5000):
    time.sleep(0.05 + 0.6 / step)
    rate = 3e-4 * min(1.0, step / 200)
    loss = 2 + 8 * math.exp(-step / 120) + 1.5 * math.exp(-(((step - 40) / 25) ** 2)) + random.gauss(0, 0.05)
    norm = 2 + 40 * math.exp(-step / 30) + abs(random.gauss(0, 0.6))
    print(f"step={step} train/loss={loss:.3f} train/grad_norm={norm:.2f} train/lr={rate:.2e}", flush=True)
