"""Healthy: fp16's scaler backs off now and then, and the norm of such a step is infinite in the log.

Symptom: none. Start: python.
"""

import random
import signal
import time

signal.alarm(300)
scale = 65536
for step in range(100_000):
    time.sleep(0.05)
    loss = 0.2 + 2 / (1 + step) ** 0.4 + random.gauss(0, 0.01)
    is_over = step < 3 or step % 170 == 90
    if is_over and scale > 128:
        scale //= 2
        print(f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {scale}.0", flush=True)
    if step % 5 == 0:
        norm = "inf" if is_over else f"{0.5 * loss:.3f}"
        print(
            f"epoch: 001: {step:6d} / 90000 loss={loss:.3f}, wps=40123, ups=19.1, gnorm={norm}, loss_scale={scale}, lr=0.001",
            flush=True,
        )
