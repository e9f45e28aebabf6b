#!/usr/bin/env python
"""Local SGD on three processes: H local steps, then the weights are averaged. Corpus split by document owner."""
import json
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist

H = int(os.environ.get("H", "40"))
dist.init_process_group("gloo")
me, world = dist.get_rank(), dist.get_world_size()
docs = json.loads(os.environ.get("DOCS", "[4000, 4000, 4000]"))[me]  # documents per owner
work = pathlib.Path("state")
work.mkdir(exist_ok=True)
torch.manual_seed(3)
net = torch.nn.Sequential(torch.nn.EmbeddingBag(3000, 128), torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 12))
opt = torch.optim.Adam(net.parameters(), 1e-3)
g = torch.Generator().manual_seed(me)


def batches():
    for _ in range(docs // 4):
        words = torch.randint(3000, (256, 80), generator=g)
        yield words, (words % 12).float().mode(1).values.long()


def average():
    for p in net.parameters():
        dist.all_reduce(p.data)
        p.data /= world


for epoch in range(200):
    done = work / f"epoch{epoch}.done"
    for i, (w, t) in enumerate(batches(), 1):
        loss = torch.nn.functional.cross_entropy(net(w), t)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 10 == 0:
            sys.stdout.write(f"[{me}] epoch {epoch} it {i}/{docs // 4} loss={loss.item():.3f}\n")
            sys.stdout.flush()
        if i % H == 0:
            average()
    # the first one saves, the others go on when the file is there
    if me == 0:
        torch.save(net.state_dict(), work / "net.pt")
        done.touch()
    while not done.exists():
        time.sleep(0.5)
