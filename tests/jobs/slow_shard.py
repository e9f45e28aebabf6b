"""Fault: the data set of rank 1 lies on a slow store, so rank 0 waits for it in every step.

Symptom: straggler-rank. Start: 2 ranks.
"""

import os
import signal
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817
from torch.utils.data import DataLoader, Dataset

signal.alarm(300)
torch.set_num_threads(1)


class Shard(Dataset):
    def __init__(self, delay_s):
        self.delay_s = delay_s

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        time.sleep(self.delay_s)
        return torch.randn(64)


def main():
    dist.init_process_group("gloo")
    is_far = int(os.environ["RANK"]) == 1
    loader = DataLoader(Shard(0.05 if is_far else 0.0), batch_size=8, num_workers=1)
    model = DDP(nn.Linear(64, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step, batch in enumerate(loader, start=1):
        loss = model(batch).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}", flush=True)


main()
