"""Affinity regression for pocket/ligand fingerprints, data parallel by hand."""
import copy
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def make_complexes(n, seed, sigma):
    g = torch.Generator().manual_seed(seed)
    pocket = torch.randn(n, 96, generator=g)
    ligand = (torch.rand(n, 160, generator=g) < 0.12).float()
    gw = torch.Generator().manual_seed(77)
    a = torch.randn(96, 8, generator=gw) / 9
    b = torch.randn(160, 8, generator=gw) / 4
    y = ((pocket @ a) * (ligand @ b)).sum(1)
    return pocket, ligand, y + sigma * torch.randn(n, generator=g)


class Affinity(nn.Module):
    def __init__(self, d=192):
        super().__init__()
        self.p = nn.Sequential(nn.Linear(96, d), nn.SiLU(), nn.Linear(d, d))
        self.l = nn.Sequential(nn.Linear(160, d), nn.SiLU(), nn.Linear(d, d))
        self.head = nn.Sequential(nn.Linear(2 * d, d), nn.SiLU(), nn.Linear(d, 1))

    def forward(self, p, l):
        p, l = self.p(p), self.l(l)
        return self.head(torch.cat([p * l, p + l], 1)).squeeze(1)


class Patience:
    def __init__(self, rounds):
        self.rounds, self.best, self.bad = rounds, float("inf"), 0

    def update(self, value):
        if value < self.best * 0.999:
            self.best, self.bad = value, 0
            return "better"
        self.bad += 1
        if self.bad >= self.rounds:
            self.bad = 0
            return "plateau"
        return "same"


def average_gradients(model, world):
    flat = torch.cat([p.grad.flatten() for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= world
    at = 0
    for p in model.parameters():
        p.grad.copy_(flat[at:at + p.numel()].view_as(p))
        at += p.numel()
    return flat.norm().item()


def restore_best(model, best):
    vec = parameters_to_vector(best).detach().clone()
    dist.broadcast(vec, src=0)
    with torch.no_grad():
        vector_to_parameters(vec, model.parameters())


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = Affinity()
    opt = torch.optim.AdamW(model.parameters(), lr=8e-4, weight_decay=0.01)
    train = make_complexes(24000 // world, 100 + rank, 0.3)
    valid = make_complexes(512, 900 + rank, 0.2 if rank == 0 else 0.6)
    watch = Patience(4)
    best = [p.detach().clone() for p in model.parameters()]
    step, t0 = 0, time.time()
    while step < 40000:
        order = torch.randperm(len(train[2]))
        for idx in order.split(256):
            if len(idx) < 256:
                continue
            p, l, y = (t[idx] for t in train)
            loss = nn.functional.huber_loss(model(p, l), y)
            opt.zero_grad()
            loss.backward()
            gn = average_gradients(model, world)
            opt.step()
            step += 1
            if step % 25 == 0:
                with torch.no_grad():
                    v = nn.functional.mse_loss(model(valid[0], valid[1]), valid[2]).item()
                if rank == 0:
                    print(f"[{time.time() - t0:7.1f}s] it={step:<5d} huber={loss.item():.4f} gnorm={gn:.3f} rmsd={v ** .5:.3f}", flush=True)
                state = watch.update(v)
                if state == "better":
                    best = [q.detach().clone() for q in model.parameters()]
                elif state == "plateau":
                    print(f"[{time.time() - t0:7.1f}s] (r{rank}) no gain in {watch.rounds} checks, back to best weights, lr/2", flush=True)
                    restore_best(model, best)
                    for grp in opt.param_groups:
                        grp["lr"] /= 2


main()
