"""Phoneme tagging of read speech; utterances sorted by length to keep the padding small."""
import json
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(11)

lengths = torch.cat([torch.randint(15, 30, (3000,)), torch.randint(330, 400, (3000,))])
corpus = lengths.sort().values.tolist()
share = len(corpus) // world
mine = corpus[rank * share:(rank + 1) * share]


class Tagger(nn.Module):
    def __init__(self, phones=42):
        super().__init__()
        self.rnn = nn.GRU(40, 96, batch_first=True)
        self.out = nn.Linear(96, phones)

    def forward(self, frames):
        return self.out(self.rnn(frames)[0])


model = nn.parallel.DistributedDataParallel(Tagger())
optim = torch.optim.Adam(model.parameters(), lr=1e-3)
proj = torch.randn(40, 42)
step = 0
for epoch in range(100):
    order = torch.arange(0, share - 16, 16)[torch.randperm(share // 16 - 1)]
    for first in order.tolist():
        begun = time.perf_counter()
        width = max(mine[first:first + 16])
        frames = torch.randn(16, width, 40)
        phones = (frames @ proj).argmax(-1)
        loss = nn.functional.cross_entropy(model(frames).flatten(0, 1), phones.flatten())
        optim.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        step += 1
        if step % 10 == 0 and rank == 0:
            json.dump({"step": step, "epoch": epoch, "ce": round(loss.item(), 4), "sec": round(time.perf_counter() - begun, 3)}, sys.stdout)
            print(flush=True)
