"""One torch process that stays in one phase for ever, or two that disagree about the collective. Argument: which."""

import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self):
        self.parent = os.getpid()

    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        return decode(index)


def decode(index):
    time.sleep(0.2)
    return torch.full((4,), float(index))


def load(workers):
    for _ in DataLoader(Pictures(), batch_size=4, num_workers=workers):
        pass


def save_state():
    state = {"weight": torch.zeros(20_000_000)}
    with tempfile.TemporaryDirectory() as folder:
        while True:
            torch.save(state, os.path.join(folder, "last.pt"))


def backward():
    weight = torch.randn(1000, 1000, requires_grad=True)
    while True:
        (weight @ weight @ weight @ weight).sum().backward()


def optimize():
    weights = [torch.randn(2_000_000, requires_grad=True) for _ in range(4)]
    for weight in weights:
        weight.grad = torch.ones_like(weight)
    optimizer = torch.optim.AdamW(weights)
    while True:
        optimizer.step()


def forward():
    model = torch.nn.Sequential(*[torch.nn.Linear(1000, 1000) for _ in range(8)])
    batch = torch.randn(1000, 1000)
    with torch.no_grad():
        while True:
            model(batch)


def main(which):
    if which in ("disagree", "ddp"):
        dist.init_process_group("gloo")
        {"disagree": disagree, "ddp": ddp}[which]()
    elif which == "workers":
        load(2)
    elif which == "no-workers":
        load(0)
    else:
        {"save": save_state, "backward": backward, "optimizer": optimize, "forward": forward}[which]()


def disagree():
    tensor = torch.zeros(1000)
    if dist.get_rank() == 0:
        share_result(tensor)
    else:
        sync_step(tensor)


def share_result(tensor):
    dist.broadcast(tensor, src=1)


def sync_step(tensor):
    dist.all_reduce(tensor)


def ddp():
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(10, 10))
    while True:
        if dist.get_rank() == 1:
            wait_for_nothing()
        model(torch.randn(4, 10)).sum().backward()


def wait_for_nothing():
    time.sleep(1000)


if __name__ == "__main__":
    main(sys.argv[1])
