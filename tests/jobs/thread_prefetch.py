"""Fault: no DataLoader at all; one thread fills a queue with batches that it tokenizes in pure Python, and cannot keep up.

Symptom: input-bound-cpu. Start: python.
"""

import logging
import queue
import signal
import threading
import time

import torch

signal.alarm(300)
torch.set_num_threads(1)
logging.basicConfig(level=logging.INFO, format="%(asctime)s,%(msecs)03d %(levelname)s %(name)s: %(message)s")
log = logging.getLogger("trainer")


def tokenize(text):
    ids = []
    for word in text.split():
        code = 7
        for letter in word:
            code = (code * 31 + ord(letter)) % 5003
        ids.append(code)
    return ids


class Prefetcher(threading.Thread):
    def __init__(self):
        super().__init__(name="prefetcher", daemon=True)
        self.batches = queue.Queue(maxsize=4)
        self.text = "the quick brown fox jumps over the lazy dog " * 800

    def run(self):
        while True:
            self.batches.put(torch.tensor([tokenize(self.text) for _ in range(24)]))

    def __next__(self):
        return self.batches.get()


def main():
    loader = Prefetcher()
    loader.start()
    table = torch.nn.Embedding(5003, 4)
    optimizer = torch.optim.SGD(table.parameters(), lr=0.1)
    tic = time.perf_counter()
    for it in range(1, 100_000):
        ids = next(loader)
        loss = table(ids[:, :64]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        toc = time.perf_counter()
        log.info("iter=%d total_loss=%.4f s/iter=%.3f", it, loss.item(), toc - tic)
        tic = toc


main()
