"""Fault: rank 1 has fewer samples than rank 0: it leaves the loop and waits at the barrier of the end, rank 0 in backward.

Symptom: collective-mismatch. Start: 2 ranks.
"""

import signal
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)


def train_epoch(model, optimizer, batches, rank):
    for step, x in enumerate(batches, start=1):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.06)
        if rank == 0:
            print(f"Train Epoch: 1 [{step * 8}/800 ({step}%)]\tLoss: {loss.item():.6f}", flush=True)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(32, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    train_epoch(model, optimizer, torch.randn(100 - 40 * rank, 8, 32), rank)
    dist.barrier()


main()
