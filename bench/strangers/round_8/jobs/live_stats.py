"""Word tagger with live statistics for the dashboard, computed beside the training."""

import collections
import threading
import time

import torch
from torch import nn


class LiveStats(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True, name="live-stats")
        self.window = collections.deque(maxlen=4000)
        self.summary = {}

    def run(self):
        while True:
            values = sorted(self.window.copy())
            if not values:
                continue
            mean = sum(values) / len(values)
            var = 0.0
            for v in values:
                var += (v - mean) ** 2
            self.summary = {"mean": mean, "std": (var / len(values)) ** 0.5, "p50": values[len(values) // 2]}


def main():
    torch.manual_seed(0)
    stats = LiveStats()
    stats.start()
    emb = nn.Embedding(300, 24)
    layers = nn.ModuleList(nn.Linear(24, 24) for _ in range(12))
    head = nn.Linear(24, 7)
    params = [*emb.parameters(), *layers.parameters(), *head.parameters()]
    opt = torch.optim.SGD(params, lr=0.01, momentum=0.9)
    t = time.perf_counter()
    for n in range(1, 10**7):
        w = torch.randint(0, 300, (32,))
        h = emb(w)
        for layer in layers:
            h = h + torch.tanh(layer(h))
        loss = nn.functional.cross_entropy(head(h), w % 7)
        opt.zero_grad()
        loss.backward()
        opt.step()
        stats.window.append(loss.item())
        if n % 10 == 0:
            now = time.perf_counter()
            print(f"n={n} nll={loss.item():.3f} {10 / (now - t):.1f} it/s", flush=True)
            t = now


main()
