"""One rank of a gloo job, for torchrun: `torch_rank.py ROSTER METHOD WORKERS`. Trains on CPU until it is killed."""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset


class Roll(Dataset):
    def __init__(self, roster, rank):
        self.roster, self.rank, self.is_reported = roster, rank, False

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        if not self.is_reported:
            self.is_reported = True
            tell(self.roster, "loader-worker", self.rank)
        return torch.ones(4)


def tell(roster, role, rank):
    with open(roster, "a") as file:
        file.write(f"{role} {rank} {os.getpid()}\n")


def train(roster, method, workers, rank):
    tell(roster, "rank", rank)
    loader = DataLoader(Roll(roster, rank), 4, num_workers=workers, multiprocessing_context=method)
    for batch in loader:
        if dist.is_initialized():
            dist.all_reduce(batch)
        time.sleep(0.1)


def main():
    torch.set_num_threads(1)
    rank = int(os.environ.get("RANK", "0"))
    if "RANK" in os.environ:
        dist.init_process_group("gloo")
    train(sys.argv[1], sys.argv[2], int(sys.argv[3]), rank)


if __name__ == "__main__":
    main()
