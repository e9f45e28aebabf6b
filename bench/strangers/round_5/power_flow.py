"""Surrogate of a power flow solver, several processes."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    print(f"rank {os.environ['RANK']} of {os.environ['WORLD_SIZE']} on {os.uname().nodename}", flush=True)
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(118, 256), nn.SiLU(), nn.Linear(256, 118)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    admittance = torch.randn(118, 118) / 11
    for step in range(1_000_000):
        load = torch.randn(256, 118)
        loss = nn.functional.mse_loss(model(load), torch.tanh(load @ admittance))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if dist.get_rank() == 0 and step % 50 == 0:
            print(f"step {step} mse {loss.item():.5f}", flush=True)


if __name__ == "__main__":
    main()
