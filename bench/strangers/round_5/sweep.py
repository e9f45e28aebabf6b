"""Random search over the hyper-parameters of a small tabular model; every trial is a process of its own."""

import argparse
import json
import random
import subprocess
import sys
import time

import torch
from torch import nn


def trial(number, threads, lr, width, epochs):
    torch.set_num_threads(threads)
    torch.manual_seed(number)
    x = torch.randn(16_384, 64)
    y = (x[:, :8].sum(1) + x[:, 8] * x[:, 9] > 0).float()
    model = nn.Sequential(nn.Linear(64, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))
    adam = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        for start in range(0, len(x), 2048):
            loss = nn.functional.binary_cross_entropy_with_logits(
                model(x[start : start + 2048]).squeeze(1), y[start : start + 2048]
            )
            adam.zero_grad()
            loss.backward()
            adam.step()
        if epoch % 3 == 0:
            print(f"trial {number:03d} epoch {epoch:3d} val_bce {loss.item():.4f}", flush=True)
    print(json.dumps({"trial": number, "lr": lr, "width": width, "objective": loss.item()}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--trial", type=int)
    parser.add_argument("--lr", type=float)
    parser.add_argument("--width", type=int)
    args = parser.parse_args()
    if args.trial is not None:
        trial(args.trial, args.threads, args.lr, args.width, args.epochs)
        return
    running, number = [], 0
    while number < 500:
        running = [p for p in running if p.poll() is None]
        while len(running) < args.jobs:
            lr, width = 10 ** random.uniform(-4, -2), random.choice([128, 256, 384])
            command = [sys.executable, __file__, "--trial", str(number), "--lr", f"{lr:.5f}", "--width", str(width)]
            command += ["--threads", str(args.threads), "--epochs", str(args.epochs)]
            running.append(subprocess.Popen(command))
            number += 1
        time.sleep(0.2)


if __name__ == "__main__":
    main()
