"""Healthy: no framework; a process that trains, one that serves parameters and sleeps, one that writes the log; all by queues.

Symptom: none. Start: python.
"""

import multiprocessing as mp
import random
import signal
import time

signal.alarm(300)


def serve(requests, answers):
    weights = [0.0] * 64
    while True:
        index = requests.get()
        answers.put(weights[index % 64])


def write(lines):
    while (line := lines.get()) is not None:
        print(line, flush=True)


def train(requests, answers, lines):
    for step in range(1, 100_000):
        requests.put(step)
        answers.get()
        end = time.time() + 0.06
        while time.time() < end:
            sum(range(3000))
        time.sleep(0.05)
        if step % 10 == 0:
            lines.put(f"step {step} loss {2 / step**0.2 + random.gauss(0, 0.01):.4f}")


if __name__ == "__main__":
    requests, answers, lines = mp.Queue(), mp.Queue(), mp.Queue()
    crew = [
        mp.Process(target=serve, args=(requests, answers), daemon=True),
        mp.Process(target=write, args=(lines,), daemon=True),
        mp.Process(target=train, args=(requests, answers, lines), daemon=True),
    ]
    for one in crew:
        one.start()
    crew[-1].join()
