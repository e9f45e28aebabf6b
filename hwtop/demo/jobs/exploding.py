"""Fault: after 230 steps the gradient norm jumps a hundredfold, the loss rises a little; logs as JSON lines, without a clip.

Symptom: grad-explosion. Start: python.
"""

import json
import random
import signal
import time

signal.alarm(300)
for step in range(1, 100_000):
    time.sleep(0.03)
    is_bad = step > 230
    loss = 0.8 + 2 / step**0.4 + random.gauss(0, 0.02) + (0.12 if is_bad else 0.0)
    norm = (90 if is_bad else 0.9) * (1 + random.random())
    print(json.dumps({"_step": step, "train/loss": loss, "train/grad_norm": norm, "train/lr": 3e-4}), flush=True)
