"""Fault: the loader workers wait for the disk. Uncached reads (O_DIRECT) keep them in uninterruptible sleep.

Needs a working directory on a real disk: a tmpfs answers at once.

Symptom: input-bound-io. Start: 2 ranks.
"""

import mmap
import os
import random
import signal
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817
from torch.utils.data import DataLoader, Dataset

signal.alarm(300)
torch.set_num_threads(1)
BLOCK, BLOCKS = 1 << 20, 64


class Shards(Dataset):
    def __init__(self, path):
        self.path, self.fd = path, None

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        if self.fd is None:
            self.fd = os.open(self.path, os.O_RDONLY | os.O_DIRECT)
            self.buffer = mmap.mmap(-1, BLOCK)
        self.read_shard(until=time.monotonic() + 0.05)
        return torch.randn(128)

    def read_shard(self, until):
        while time.monotonic() < until:
            os.preadv(self.fd, [self.buffer], random.randrange(BLOCKS) * BLOCK)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    path = f"shard_{rank}.bin"
    with open(path, "wb") as f:
        for _ in range(BLOCKS):
            f.write(os.urandom(BLOCK))
        f.flush()
        os.fsync(f.fileno())
    model = DDP(torch.nn.Linear(128, 1))
    optim = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step, x in enumerate(DataLoader(Shards(path), batch_size=8, num_workers=1), 1):
        loss = model(x).pow(2).mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
        print(f"[rank {rank}] step: {step} loss: {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
