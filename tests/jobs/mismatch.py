"""Fault: at step 30 rank 1 broadcasts new settings while rank 0 goes on to reduce the token count.

Symptom: collective-mismatch. Start: 2 ranks.
"""

import signal
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817

signal.alarm(300)
torch.set_num_threads(1)


def sync_schedule(value):
    t = torch.tensor([value])
    dist.broadcast(t, src=0)
    return t.item()


def global_token_count(n):
    t = torch.tensor([float(n)])
    dist.all_reduce(t)
    return t.item()


def train():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(torch.nn.Linear(64, 1))
    optim = torch.optim.SGD(model.parameters(), lr=1e-2)
    lr = 1e-2
    for step in range(1, 100_000):
        if step == 30 and rank == 1:
            lr = sync_schedule(lr / 2)
        tokens = global_token_count(32)
        loss = model(torch.randn(32, 64)).pow(2).sum() / tokens
        optim.zero_grad()
        loss.backward()
        optim.step()
        time.sleep(0.1)
        print(f"rank {rank} step {step:>6d} | loss {loss.item():8.4f} | lr {lr:.3e}", flush=True)


train()
