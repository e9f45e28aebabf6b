"""Healthy: a smoke test that overfits one batch; the loss prints as 0.0000 for most of the run.

Symptom: none. Start: python.
"""

import signal
import time

signal.alarm(300)
for step in range(1, 100_000):
    time.sleep(0.06)
    print(f"step {step:5d} | loss {2.3 * 0.88**step:.4f} | acc {min(1.0, step / 60):.3f}", flush=True)
