"""A model cut into two stages, one process each, activations and gradients over a pipe."""

import multiprocessing as mp
import sys
import time

import torch
from torch import nn


def stage_zero(link, seed):
    torch.manual_seed(seed)
    part = nn.Sequential(nn.Linear(40, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
    opt = torch.optim.SGD(part.parameters(), lr=0.01, momentum=0.9)
    rule = torch.randn(40, 5)
    while True:
        micro = []
        for _ in range(4):
            x = torch.randn(32, 40)
            h = part(x)
            micro.append(h)
            link.send((h.detach().numpy(), (x @ rule).argmax(1).numpy()))
            time.sleep(0.02)
        opt.zero_grad()
        for h in micro:
            h.backward(torch.from_numpy(link.recv()) / 4)
        opt.step()


def stage_one(link, seed):
    torch.manual_seed(seed)
    part = nn.Sequential(nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 5))
    opt = torch.optim.SGD(part.parameters(), lr=0.01, momentum=0.9)
    t0 = time.time()
    for step in range(1, 10**6):
        opt.zero_grad()
        total = 0.0
        for _ in range(4):
            h, y = link.recv()
            h = torch.from_numpy(h).requires_grad_()
            loss = nn.functional.cross_entropy(part(h), torch.from_numpy(y))
            loss.backward()
            total += loss.item() / 4
            link.send(h.grad.numpy())
            time.sleep(0.02)
        opt.step()
        if step % 20 == 0:
            print(f"[stage1] step={step} loss={total:.4f} {20 / (time.time() - t0):.2f} steps/s")
            t0 = time.time()


if __name__ == "__main__":
    ctx = mp.get_context("spawn")
    a, b = ctx.Pipe()
    procs = [
        ctx.Process(target=stage_zero, args=(a, 0), name="stage0"),
        ctx.Process(target=stage_one, args=(b, 1), name="stage1"),
    ]
    for p in procs:
        p.start()
    for p in procs:
        p.join()
    sys.exit(max(abs(p.exitcode) for p in procs))
