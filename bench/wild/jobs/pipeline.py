"""Pipeline parallelism: two stages, GPipe schedule of torch.distributed.pipelining."""

import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

WIDTH, MICRO = 512, 4


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)
    part = nn.Sequential(
        nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH)
    )
    stage = PipelineStage(part, rank, world, torch.device("cpu"))
    schedule = ScheduleGPipe(stage, MICRO, loss_fn=nn.functional.mse_loss)
    optimizer = torch.optim.Adam(part.parameters(), lr=1e-4)
    mix = torch.randn(WIDTH, WIDTH, generator=torch.Generator().manual_seed(7)) / WIDTH**0.5
    source = torch.Generator().manual_seed(3)
    for step in range(1, 100000):
        began = time.time()
        x = torch.randn(256, WIDTH, generator=source)
        optimizer.zero_grad()
        if rank == 0:
            schedule.step(x)
        else:
            losses = []
            schedule.step(target=torch.tanh(x @ mix), losses=losses)
            loss = torch.stack(losses).mean().item()
            print(f"iteration {step:6d} | elapsed {1000 * (time.time() - began):8.1f} ms | loss {loss:.6f}")
        optimizer.step()


main()
