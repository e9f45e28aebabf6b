"""Fault: a plain loop unpacks each batch from a zip archive in the training process itself; a tqdm bar on one line.

Symptom: input-bound-workers. Start: python.
"""

import io
import random
import signal
import sys
import time
import zipfile

signal.alarm(300)
BATCH = bytes(random.getrandbits(4) for _ in range(1 << 19))


def pack():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("batch", BATCH * 24)
    return archive


def load_batch(archive):
    with zipfile.ZipFile(archive) as file:
        return file.read("batch")


archive, started = pack(), time.time()
for step in range(1, 5001):
    load_batch(archive)
    time.sleep(0.02)  # an accelerator's share of the step
    rate = step / (time.time() - started)
    sys.stderr.write(
        f"\rtrain:  {step / 50:.0f}%|#         | {step}/5000 [00:10<10:00, {rate:.2f}it/s, loss={2 / step**0.2:.3f}]"
    )
    sys.stderr.flush()
