"""Credit scoring on synthetic tabular data with an ensemble head. Metrics go to metrics.jsonl."""

import copy
import json
import os
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(4)
INIT_FROM = os.environ.get("INIT_FROM", "fresh")


def build():
    return nn.Sequential(
        nn.BatchNorm1d(30), nn.Linear(30, 128), nn.SiLU(), nn.Linear(128, 64), nn.SiLU(), nn.Linear(64, 1)
    )


def sample(n, w):
    x = torch.randn(n, 30)
    p = torch.sigmoid(2 * (x @ w) + x[:, 0] * x[:, 1])
    return x, torch.bernoulli(p)


def main():
    w = torch.randn(30) / 4
    model = build()
    opt = torch.optim.AdamW(model.parameters(), 3e-4)
    if INIT_FROM == "template":
        # start every member of the ensemble from the same weights
        model = copy.deepcopy(model)
    started = time.time()
    with open("metrics.jsonl", "w", buffering=1) as out:
        for step in range(1, 1_000_000):
            x, y = sample(512, w)
            prob = model(x)[:, 0]
            loss = nn.functional.binary_cross_entropy_with_logits(prob, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            time.sleep(0.03)
            if step % 5 == 0:
                acc = ((prob > 0) == (y > 0.5)).float().mean().item()
                line = {"step": step, "elapsed": round(time.time() - started, 2), "train/loss": loss.item(), "acc": acc}
                out.write(json.dumps(line) + "\n")
            if step % 100 == 0:
                print("step", step, "done", flush=True)


if __name__ == "__main__":
    main()
