"""Healthy: metrics that are not known yet print as nan, inf or None beside a loss that falls.

Symptom: none. Start: python.
"""

import random
import signal
import time

signal.alarm(300)
for step in range(1, 100_000):
    time.sleep(0.08)
    loss = 0.5 + 2 / step**0.4 + random.gauss(0, 0.02)
    print(f"step: {step} train_loss: {loss:.4f} val_loss: nan best_val: inf psnr: inf bleu: None eta: nan", flush=True)
