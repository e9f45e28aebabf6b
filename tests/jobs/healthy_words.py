"""Healthy: a language model whose log is full of words of failure: metrics, samples, names of classes and files.

Symptom: none. Start: python.
"""

import random
import signal
import time

signal.alarm(300)
SAYINGS = (
    "eval/word_error_rate 0.213 | eval/error 0.08 | n_errors 0 | nan_count 0 | inf_grads 0",
    "sample> the connection was closed by peer, so the killed process left a fatal error in the killed log",
    "sample>     except RuntimeError as error: print('CUDA out of memory', error)",
    "sample> Q: why do I see 'Segmentation fault (core dumped)'? A: a pointer is null",
    "class 17 (timeout): f1 0.91   class 18 (deadlock): f1 0.88   class 19 (oom): f1 0.83",
    "mean abs error: 0.0213, failed predictions: 12 of 4096, no errors found in 128 shards",
    "retrying with a smaller beam is not needed: 0 hypotheses were killed",
    "loading shard data/errors-00012-of-00064.tar (killed-by-signal subset)",
    "val_loss=0.4312 best=0.4310 patience 1/5 (no nan, no overflow)",
)
for step in range(1, 100_000):
    time.sleep(0.1)
    print(
        f"step {step} loss {0.4 + 2 / step**0.5 + random.gauss(0, 0.02):.4f} error_rate {0.5 / step**0.3:.3f}",
        flush=True,
    )
    if step % 7 == 0:
        print(random.choice(SAYINGS), flush=True)
