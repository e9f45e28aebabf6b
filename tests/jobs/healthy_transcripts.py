"""Healthy: a speech recogniser prints what it heard, and it heard of processes that were killed.

Symptom: none. Start: python.
"""

import logging
import random
import signal
import time

signal.alarm(300)
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s [%(name)s] %(message)s")
log = logging.getLogger("asr")
log.info("config: {'timeout': 1800, 'nan_policy': 'omit', 'on_error': 'resume', 'max_oom_retries': 3}")
HEARD = (
    "hypothesis: 'the process ran out of memory and was killed' reference: 'the princess ran out of money and was billed'",
    "hypothesis: 'a node was killed because it was out of memory' reference: 'a note was filled'",
    "hypothesis: 'the connection timed out at the rendezvous' reference: 'the connection ran out'",
)
for step in range(100_000):
    time.sleep(0.05)
    if step % 5 == 0:
        loss = 0.3 + 2 / (1 + step) ** 0.4 + random.gauss(0, 0.01)
        log.info("step=%d loss=%.4f word_error_rate=%.3f oom=0 killed=0 overflow=0", step, loss, 0.1 * loss)
    if step % 40 == 7:
        log.warning(random.choice(HEARD))
