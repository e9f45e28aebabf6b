"""Healthy: two players; the generator's loss rises while the discriminator's falls, and both are noisy.

Symptom: none. Start: python.
"""

import math
import random
import signal
import time

signal.alarm(300)
for step in range(1, 100_000):
    time.sleep(0.05)
    d_loss = 0.2 + 1.2 / (1 + step / 150) + random.gauss(0, 0.05)
    g_loss = 0.7 + 1.8 * (1 - math.exp(-step / 250)) + random.gauss(0, 0.25)
    print(
        f"[{step // 200}/200][{step % 200}/200] Loss_D: {d_loss:.4f} Loss_G: {g_loss:.4f} D(x): 0.71 D(G(z)): 0.33",
        flush=True,
    )
