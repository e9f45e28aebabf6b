"""Fault: Python threads that count words all the time take the interpreter lock from the training loop.

Symptom: gil-contention. Start: python.
"""

import signal
import threading

import torch

signal.alarm(300)
torch.set_num_threads(1)


def count_words():
    counts = {}
    while True:
        for word in ("alpha beta gamma delta " * 50).split():
            counts[word] = counts.get(word, 0) + 1


def augment(row):
    total = 0.0
    for k in range(4000):
        total += (row * k) % 7
    return total


def main():
    for _ in range(2):
        threading.Thread(target=count_words, name="word-counter", daemon=True).start()
    model = torch.nn.Linear(16, 16)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(1, 1_000_000):
        noise = sum(augment(row) for row in range(20))
        loss = (model(torch.randn(8, 16)) * (1 + noise % 2)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
