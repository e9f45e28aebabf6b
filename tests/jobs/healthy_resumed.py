"""Healthy: resumed after an out-of-memory error; the log still holds the traceback of the run before.

Symptom: none. Start: python.
"""

import random
import signal
import time

signal.alarm(300)
BEFORE = """\
step 1180 loss 0.9120 lr 3.0e-04
Traceback (most recent call last):
  File "/home/me/train.py", line 88, in <module>
    loss.backward()
  File "/usr/lib/python3/site-packages/torch/_tensor.py", line 521, in backward
    torch.autograd.backward(
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.04 GiB is free.
[rank0]: ValueError: label 12 is out of range
Resuming from checkpoint-1000
"""
print(BEFORE, end="", flush=True)
for step in range(1001, 100_000):
    time.sleep(0.1)
    print(f"step {step} loss {0.8 + 4 / step**0.3 + random.gauss(0, 0.02):.4f} lr 3.0e-04", flush=True)
