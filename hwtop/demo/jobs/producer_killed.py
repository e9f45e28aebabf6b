"""Fault: the only producer of a hand-made loader is killed by the kernel's way (SIGKILL); the training waits for ever.

Symptom: dataloader-worker-killed. Start: python.
"""

import multiprocessing
import os
import signal
import time

import torch

signal.alarm(300)
torch.set_num_threads(1)


def produce(queue):
    for count in range(100_000):
        if count == 40:
            os.kill(os.getpid(), signal.SIGKILL)
        queue.put(torch.randn(8, 16).tolist())
        time.sleep(0.05)


class BatchLoader:
    def __init__(self):
        self.queue = multiprocessing.Queue(2)
        self.producer = multiprocessing.Process(target=produce, args=(self.queue,), daemon=True)
        self.producer.start()

    def next_batch(self):
        return torch.tensor(self.queue.get())


def main():
    loader = BatchLoader()
    model = torch.nn.Linear(16, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(1, 100_000):
        loss = model(loader.next_batch()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
