"""Fault: the file system has no room for the checkpoint; the error is logged by a handler and the job ends.

Symptom: disk-full. Start: python.
"""

import logging
import pickle
import signal
import sys
import time

signal.alarm(300)
logging.basicConfig(level=logging.INFO, format="[%(levelname)s|%(filename)s:%(lineno)d] %(asctime)s >> %(message)s")
log = logging.getLogger(__name__)


def save(step):
    with open("/dev/full", "wb") as file:
        pickle.dump([0.0] * 100_000, file)


for step in range(1, 100_000):
    time.sleep(0.1)
    log.info("step = %d, loss = %.3f", step, 3 / step**0.3)
    if step == 80:
        try:
            save(step)
        except OSError:
            log.exception("saving the checkpoint of step %d failed", step)
            sys.exit(1)
