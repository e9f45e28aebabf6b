"""Fault: the loss scale halves again and again after step 60; logs as DeepSpeed does.

Symptom: loss-scale-overflow. Start: python.
"""

import random
import signal
import time

signal.alarm(300)
scale = 65536.0
for step in range(1, 100_000):
    time.sleep(0.12)
    if step > 60 and step % 3 == 0 and scale > 1:
        print(
            f"[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {scale:.0f}, reducing to {scale / 2:.0f}"
        )
        scale /= 2
    loss = 2 / step**0.1 + random.gauss(0, 0.01)
    print(f"steps: {step} loss: {loss:.4f} iter time (s): 0.120 samples/sec: 66.667", flush=True)
