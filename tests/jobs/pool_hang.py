"""Fault: no framework; four processes meet at a barrier after each step, and one of them has left its loop on a swallowed error.

Symptom: hang. Start: python.
"""

import multiprocessing as mp
import random
import signal
import time

signal.alarm(300)


def forward(step, number):
    if step == 50 and number == 2:
        raise KeyError("label")
    time.sleep(0.05)
    return 2.0 / step**0.3 + random.gauss(0, 0.01)


def train(number, barrier):
    try:
        for step in range(1, 100_000):
            loss = forward(step, number)
            barrier.wait()
            if number == 0:
                print(f"step {step:06d} loss={loss:.4f}", flush=True)
    except KeyError:
        pass
    mp.Event().wait()  # for the shutdown that a supervisor would send


if __name__ == "__main__":
    meeting = mp.Barrier(4)
    ranks = [mp.Process(target=train, args=(number, meeting), name=f"rank{number}") for number in range(4)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
