"""Two ranks through torch.multiprocessing.spawn: `spawn_ranks.py ROSTER METHOD WORKERS`; the rendezvous is set in the ranks."""

import sys

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch_rank import tell, train


def run(rank, roster, method, workers):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{roster}.store", rank=rank, world_size=2)
    train(roster, method, workers, rank)


def main():
    roster, method, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    tell(roster, "launcher", "-")
    torch.multiprocessing.spawn(run, args=(roster, method, workers), nprocs=2)


if __name__ == "__main__":
    main()
