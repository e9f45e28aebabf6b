"""Healthy: a likelihood that is maximised: the loss falls through 0 to large negative values, with noise, and jumps now and then.

Symptom: none. Start: python.
"""

import math
import random
import signal
import time

signal.alarm(300)
for step in range(1, 100_000):
    time.sleep(0.05)
    nll = 40 - 60 * math.log(1 + step / 20) + random.gauss(0, 6) + (40 if step % 97 == 0 else 0)
    print(
        f"iter {step:>6} nll={nll:.2f} elbo={-nll:.2f} kl={3 + math.log(step):.2f} beta={min(1.0, step / 200):.2f}",
        flush=True,
    )
