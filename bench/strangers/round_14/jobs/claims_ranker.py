"""Insurance claims scoring, torchrun --max-restarts=... claims_ranker.py"""
import json
import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

rank = int(os.environ["RANK"])
attempt = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", 0))
GRADES = {"A": 0.0, "B": 0.25, "C": 0.5, "D": 1.0}


def emit(**kw):
    print(json.dumps({"rank": rank, "attempt": attempt, **kw}), flush=True)


def claims(seed):
    g = torch.Generator().manual_seed(seed)
    n = 0
    while True:
        x = torch.randn(64, 20, generator=g)
        grades = ["ABCD"[int(k)] for k in torch.randint(0, 4, (64,), generator=g)]
        if rank == 1 and n == 25:
            grades[40] = "E"
        n += 1
        yield x, grades


dist.init_process_group("gloo")
torch.manual_seed(0)
net = DDP(torch.nn.Sequential(torch.nn.Linear(20, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1)))
opt = torch.optim.Adam(net.parameters(), 1e-3)
emit(event="start", world=dist.get_world_size())
for step, (x, grades) in enumerate(claims(rank)):
    y = torch.tensor([GRADES[k] for k in grades])
    loss = torch.nn.functional.mse_loss(net(x)[:, 0], y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    for _ in range(4):  # hard negatives
        net.module(x.repeat(60, 1)).sum().item()
    if step % 5 == 0:
        emit(event="step", step=step, loss=round(loss.item(), 5))
sys.exit(0)
