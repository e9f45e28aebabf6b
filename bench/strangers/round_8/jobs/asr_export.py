"""Acoustic model, two ranks; rank 0 hands the weights to a converter every epoch."""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

EPOCH = 40
PIPE = "converter.in"


def say(*words):
    print(f"[{time.strftime('%X')}][{os.environ['RANK']}]", *words, file=sys.stderr, flush=True)


def hand_over(model):
    """The converter reads the state from its named pipe."""
    say("exporting epoch weights to", PIPE)
    if not os.path.exists(PIPE):
        os.mkfifo(PIPE)
    with open(PIPE, "wb") as f:
        torch.save(model.state_dict(), f)
    say("export finished")


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    model = nn.Sequential(nn.Conv1d(20, 48, 5), nn.ReLU(), nn.Conv1d(48, 48, 5), nn.ReLU(), nn.AdaptiveAvgPool1d(1))
    model = nn.parallel.DistributedDataParallel(nn.Sequential(model, nn.Flatten(), nn.Linear(48, 30)))
    opt = torch.optim.Adam(model.parameters(), lr=5e-4)
    proto = torch.randn(30, 20, 1, generator=torch.Generator().manual_seed(0))
    step = 0
    for epoch in range(1, 1000):
        for _ in range(EPOCH):
            y = torch.randint(0, 30, (16,))
            loss = nn.functional.cross_entropy(model(proto[y] + torch.randn(16, 20, 60)), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            time.sleep(0.1)
            if step % 8 == 0 and rank == 0:
                say(f"epoch={epoch} step={step} ctc={loss.item():.3f}")
        if rank == 0:
            hand_over(model.module)


main()
