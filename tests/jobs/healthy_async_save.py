"""Healthy: a thread writes each checkpoint slowly while the training goes on.

Symptom: none. Start: python.
"""

import os
import pickle
import random
import signal
import threading
import time

signal.alarm(300)


def save_checkpoint(state, step):
    with open(f"checkpoint-{step % 2}.pkl", "wb") as file:
        for part in state:
            pickle.dump(part, file)
            file.flush()
            os.fsync(file.fileno())
            time.sleep(0.3)


writer = None
for step in range(1, 100_000):
    time.sleep(0.1)
    if step % 60 == 0:
        if writer is not None:
            writer.join()
        writer = threading.Thread(
            target=save_checkpoint, args=([b"\x00" * 200_000] * 10, step), name="saver", daemon=True
        )
        writer.start()
    print(f"step {step} loss {0.5 + 2 / step**0.4 + random.gauss(0, 0.02):.4f}", flush=True)
