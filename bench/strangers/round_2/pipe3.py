"""Pipeline over three ranks with send/recv; microbatches, GPipe schedule. torchrun --nproc-per-node=3 pipe3.py"""
import os
import time

import torch
import torch.distributed as dist

MICRO, B, D = 4, 48, 320
SLOW = {int(k): int(v) for k, v in (p.split(":") for p in os.environ.get("LAYERS", "0:3,1:3,2:3").split(","))}
SOLVER = os.environ.get("SOLVER_FROM")


def make_stage(rank):
    torch.manual_seed(rank)
    mods = []
    for _ in range(SLOW[rank]):
        mods += [torch.nn.Linear(D, D), torch.nn.GELU(), torch.nn.LayerNorm(D)]
    return torch.nn.Sequential(*mods)


def fixed_point(h, step):
    """Anderson-free fixed point iteration of the implicit layer of stage 1."""
    z = torch.zeros_like(h)
    scale = 0.5 if step < int(SOLVER) else -1.0
    while True:
        new = scale * z + h
        if (new - z).abs().max() < 1e-4 * (1 + h.abs().max()):
            return new
        z = new


def main():
    dist.init_process_group("gloo")
    rank, last = dist.get_rank(), dist.get_world_size() - 1
    torch.set_num_threads(1)
    stage = make_stage(rank)
    opt = torch.optim.SGD(stage.parameters(), 0.01)
    target = torch.randn(D, D, generator=torch.Generator().manual_seed(7)) / D**0.5
    t0 = time.time()
    for step in range(1, 500_000):
        ins, outs = [], []
        losses = 0.0
        for m in range(MICRO):
            if rank == 0:
                x = torch.randn(B, D, generator=torch.Generator().manual_seed(step * MICRO + m))
            else:
                x = torch.empty(B, D)
                dist.recv(x, rank - 1)
                x.requires_grad_()
            h = stage(x)
            if rank == 1 and SOLVER:
                h = h + 0 * fixed_point(h.detach(), step)
            ins.append(x)
            outs.append(h)
            if rank < last:
                dist.send(h.detach(), rank + 1)
        opt.zero_grad()
        for m in range(MICRO):
            if rank == last:
                x0 = torch.randn(B, D, generator=torch.Generator().manual_seed(step * MICRO + m))
                loss = ((outs[m] - x0 @ target) ** 2).mean() / MICRO
                loss.backward()
                losses += loss.item()
            else:
                g = torch.empty(B, D)
                dist.recv(g, rank + 1)
                outs[m].backward(g)
            if rank > 0:
                dist.send(ins[m].grad, rank - 1)
        opt.step()
        if rank == last and step % 20 == 0:
            print(f"| step {step:7d} | lm loss {losses:.4E} | ms/batch {1000 * (time.time() - t0) / 20:8.2f} |", flush=True)
            t0 = time.time()


main()
