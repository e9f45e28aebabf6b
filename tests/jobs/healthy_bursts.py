"""Healthy: reinforcement learning in turns: some seconds of playing, then a burst of quick updates; returns go up and down.

Symptom: none. Start: python.
"""

import math
import random
import signal
import time

signal.alarm(300)


def play(seconds):
    end = time.time() + seconds
    while time.time() < end:
        sum(range(20_000))
        time.sleep(0.01)


def learn(step):
    time.sleep(0.02)
    return 0.3 + 0.2 * math.sin(step / 40) + random.gauss(0, 0.1)


step = 0
for iteration in range(1, 100_000):
    play(3.5)
    for _ in range(40):
        step += 1
        print(f"update {step} | value_loss {abs(learn(step)):.3f} | entropy {1.2 - step / 9e4:.4f}", flush=True)
    print(f"iteration {iteration} mean_return {random.gauss(-120 + iteration, 30):.1f}", flush=True)
