"""A trainer of the standard library only: a worker process feeds batches through a queue. Argument: fork or spawn."""

import multiprocessing as mp
import os
import sys
import threading
import time


def produce(queue, parent):
    while os.getppid() == parent:
        queue.put(decode_image())


def decode_image():
    end = time.time() + 0.2
    while time.time() < end:
        time.sleep(0.01)
    return b"x" * 100


def next_batch(queue):
    return queue.get()


def heartbeat():
    threading.Event().wait()


def main():
    context = mp.get_context(sys.argv[1])
    queue = context.Queue(1)
    context.Process(target=produce, args=(queue, os.getpid()), daemon=True).start()
    threading.Thread(target=heartbeat, name="heartbeat", daemon=True).start()
    while True:
        next_batch(queue)


if __name__ == "__main__":
    main()
