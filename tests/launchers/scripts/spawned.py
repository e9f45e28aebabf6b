"""Ranks of torch.multiprocessing.spawn that have not begun to train: `spawned.py ROSTER`."""

import os
import sys
import time

import torch.multiprocessing


def rank(number: int, roster: str) -> None:
    with open(roster, "a") as file:
        file.write(f"{number} {os.getpid()}\n")
    time.sleep(1800)


if __name__ == "__main__":
    torch.multiprocessing.spawn(rank, args=(sys.argv[1],), nprocs=2)
