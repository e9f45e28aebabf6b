"""Forecast of heat pump load, two processes with mp.spawn.

HP_DEBUG=1 opens a debugpy port in the process that meets something odd (attach with VS Code).
"""
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def windows(gen, n=64, steps=96):
    t = torch.arange(steps + 1).float()
    phase = torch.rand(n, 1, generator=gen) * 96
    base = torch.sin((t + phase) / 96 * 6.283) + 0.3 * torch.randn(n, steps + 1, generator=gen)
    temp = torch.cos((t + phase) / 96 * 6.283) + 0.1 * torch.randn(n, steps + 1, generator=gen)
    return torch.stack([base, temp], -1)


def normalise(x):
    return (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)


def look_at(rank, step, loss):
    if os.environ.get("HP_DEBUG") == "1":
        import debugpy

        port = 31130 + rank
        debugpy.listen(("127.0.0.1", port))
        print(f"[{rank}] step {step}: loss {loss.item()} -> waiting for client on {port}", flush=True)
        debugpy.wait_for_client()
        debugpy.breakpoint()


def run(rank, world):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = "31135"
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(3)
    net = nn.LSTM(2, 64, num_layers=1, batch_first=True)
    head = nn.Linear(64, 1)
    params = list(net.parameters()) + list(head.parameters())
    opt = torch.optim.Adam(params, lr=1e-3)
    gen = torch.Generator().manual_seed(rank + 20)
    t0 = time.time()
    for step in range(1_000_000):
        x = windows(gen)
        if rank == 1 and step == 260:
            x[5] = 0.0  # meter 5 of this site was replaced in March, all readings are 0
        x = normalise(x)
        out, _ = net(x[:, :-1])
        loss = (head(out).squeeze(-1) - x[:, 1:, 0]).pow(2).mean()
        if not torch.isfinite(loss):
            look_at(rank, step, loss)
        opt.zero_grad()
        loss.backward()
        flat = torch.cat([p.grad.view(-1) for p in params])
        dist.all_reduce(flat)
        flat /= world
        i = 0
        for p in params:
            p.grad.copy_(flat[i : i + p.numel()].view_as(p))
            i += p.numel()
        opt.step()
        if step % 20 == 0:
            print(f"[{rank}] step {step:5d}  mse {loss.item():.4f}  {(step + 1) / (time.time() - t0):.1f} it/s", flush=True)


if __name__ == "__main__":
    mp.spawn(run, args=(2,), nprocs=2)
