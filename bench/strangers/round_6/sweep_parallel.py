"""Random search over widths: several trials at the same time, one process each."""

import multiprocessing as mp
import os
import random
import time

import torch
from torch import nn


def trial(number, threads):
    torch.set_num_threads(threads)
    rng = random.Random(number)
    width, lr = rng.choice([512, 768, 1024]), 10 ** rng.uniform(-4, -3)
    x = torch.randn(512, 256)
    y = (x @ torch.randn(256, 10)).argmax(1)
    net = nn.Sequential(nn.Linear(256, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))
    opt = torch.optim.Adam(net.parameters(), lr)
    for epoch in range(1, 10000):
        begin = time.time()
        for _ in range(10):
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        spent = time.time() - begin
        print(f"trial {number} width {width} epoch {epoch} loss {loss.item():.4f} ({spent:.1f} s)", flush=True)


def main():
    parallel = int(os.environ.get("PARALLEL", "3"))
    threads = int(os.environ.get("THREADS", "6"))
    jobs = [mp.get_context("spawn").Process(target=trial, args=(n, threads)) for n in range(parallel)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()


if __name__ == "__main__":
    main()
