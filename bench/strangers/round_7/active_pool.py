"""Active learning: label, train, keep what was labelled for the density term."""
import argparse
import random
import time

import torch

ap = argparse.ArgumentParser()
ap.add_argument("--labels-per-round", type=int, default=6)
ap.add_argument("--memory", type=int, default=10**9)
a = ap.parse_args()

torch.manual_seed(0)
model = torch.nn.Linear(24, 3)
opt = torch.optim.SGD(model.parameters(), 0.02)
labelled = []


def ask_oracle(n):
    for _ in range(n):
        x = [random.gauss(0, 1) for _ in range(24)]
        labelled.append((x, int(sum(x[:3]) > 0) + int(sum(x) > 2)))
    del labelled[: -a.memory]


def density(points):
    """mean similarity of every labelled point with the newest one"""
    ref = points[-1][0]
    return [1.0 / (1.0 + sum((u - v) ** 2 for u, v in zip(p, ref))) for p, _ in points]


ask_oracle(200)
started = time.time()
for rnd in range(1, 100000):
    tic = time.time()
    ask_oracle(a.labels_per_round)
    weight = torch.tensor(density(labelled))
    for _ in range(4):
        density(labelled)
    x = torch.tensor([p for p, _ in labelled])
    y = torch.tensor([c for _, c in labelled])
    loss = (torch.nn.functional.cross_entropy(model(x), y, reduction="none") * weight).sum() / weight.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    time.sleep(0.02)
    if rnd % 10 == 0:
        print(f"round {rnd:6d}   labelled {len(labelled):6d}   weighted_xent {loss:.4f}   took {time.time() - tic:.3f}s", flush=True)
    if time.time() - started > 400:
        break
