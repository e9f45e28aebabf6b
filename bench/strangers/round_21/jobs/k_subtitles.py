"""Subtitle translation with a GRU encoder and decoder; rank 0 translates a few lines for the eye now and then."""
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WORDS, N = 300, 10


class Model(nn.Module):
    def __init__(self, d=96):
        super().__init__()
        self.es, self.et = nn.Embedding(WORDS, d), nn.Embedding(WORDS, d)
        self.enc = nn.GRU(d, d, batch_first=True, bidirectional=True)
        self.dec = nn.GRU(d, 2 * d, batch_first=True)
        self.att = nn.MultiheadAttention(2 * d, 4, batch_first=True)
        self.out = nn.Linear(4 * d, WORDS)

    def forward(self, s, t):
        mem, _ = self.enc(self.es(s))
        h, _ = self.dec(self.et(t))
        c, _ = self.att(h, mem, mem)
        return self.out(torch.cat([h, c], -1))


def batch(n, table, g):
    s = torch.randint(3, WORDS, (n, N), generator=g)
    y = table[s].roll(1, 1)
    return s, torch.cat([torch.ones(n, 1, dtype=torch.long), y[:, :-1]], 1), y


@torch.no_grad()
def show(model, table, g):
    s, _, y = batch(160, table, g)
    t = torch.ones(160, 1, dtype=torch.long)
    for _ in range(N):
        t = torch.cat([t, model(s, t)[:, -1:].argmax(-1)], 1)
    hit = (t[:, 1:] == y).float().mean().item()
    print(f"    greedy decode of 160 lines: {100 * hit:.1f} % of words right", flush=True)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(Model())
    table = torch.randperm(WORDS, generator=torch.Generator().manual_seed(1))
    g = torch.Generator().manual_seed(rank + 10)
    opt = torch.optim.Adam(model.parameters(), 1e-4)
    t0 = time.time()
    for step in range(1, 60_000):
        s, t, y = batch(48, table, g)
        loss = nn.functional.cross_entropy(model(s, t).flatten(0, 1), y.flatten(), label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if rank == 0 and step % 25 == 0:
            print(f"({time.time() - t0:6.1f}) upd {step} xent {loss.item():.3f}", flush=True)
        if step % 150 == 0:
            if rank == 0:
                show(model.module, table, g)
                torch.save(model.module.state_dict(), "last.pt")
            dist.barrier()


main()
