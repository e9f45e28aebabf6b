"""Fault: the trainer joins its preprocessing process before it has emptied the queue; that one cannot end while the pipe is full.

Symptom: hang. Start: python.
"""

import multiprocessing as mp
import signal
import time

signal.alarm(300)


def preprocess(batches):
    for index in range(40):
        batches.put([index] * 60_000)


def main():
    batches = mp.Queue()
    helper = mp.Process(target=preprocess, args=(batches,))
    helper.start()
    for step in range(1, 31):
        loss = 3.0 / step + sum(batches.get()[:10]) * 0
        time.sleep(0.1)
        print(f"step {step} loss {loss:.4f}", flush=True)
    helper.join()
    print("evaluating", flush=True)


if __name__ == "__main__":
    main()
