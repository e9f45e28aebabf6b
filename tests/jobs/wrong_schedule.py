"""Fault: the schedule of the learning rate ends after 30 steps and stays at 0; logs as the Hugging Face Trainer does.

Symptom: lr-stuck. Start: python.
"""

import random
import signal
import time

signal.alarm(300)
for step in range(1, 3000):
    rate = max(0.0, 5e-5 * (1 - step / 30))
    loss = 2.0 + 0.4 * max(0.0, 1 - step / 30) + random.gauss(0, 0.02)
    time.sleep(0.12)
    row = {
        "loss": round(loss, 4),
        "grad_norm": 1.3 + random.random(),
        "learning_rate": rate,
        "epoch": round(step / 3000, 2),
    }
    print(row, flush=True)
