import json
import os
import random
import sys
import time

import torch
import torch.distributed as dist

USERS, ITEMS, DIM = 30000, 12000, 48
REPORT_EVERY = 2_000_000


def emit(**kw):
    sys.stdout.write(json.dumps({"ts": round(time.time(), 2), "rank": dist.get_rank(), **kw}) + "\n")


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    stats_group = dist.new_group(list(range(world)))
    rng = random.Random(rank)
    g = torch.Generator().manual_seed(100 + rank)
    torch.manual_seed(1)
    users = torch.nn.Parameter(torch.randn(USERS, DIM) * 0.05)
    items = torch.nn.Parameter(torch.randn(ITEMS, DIM) * 0.05)
    opt = torch.optim.Adagrad([users, items], lr=0.05)
    seen, step, total = 0, 0, 0.0
    while True:
        n = rng.randint(2000, 6000)  # one impression log = one batch
        u = torch.randint(0, USERS, (n,), generator=g)
        i = torch.randint(0, ITEMS, (n,), generator=g)
        rating = ((u * 7 + i * 3) % 5).float() / 4
        loss = ((users[u] * items[i]).sum(1) - rating).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        for p in (users, items):
            dist.all_reduce(p.grad)
            p.grad.div_(world)
        opt.step()
        step += 1
        seen += n
        total += loss.item() * n
        if step % 10 == 0:
            emit(event="step", step=step, loss=round(loss.item(), 5), samples=seen)
        if seen >= REPORT_EVERY:
            t = torch.tensor([total, float(seen)])
            dist.all_reduce(t, group=stats_group)
            emit(event="report", rmse=round((t[0] / t[1]).sqrt().item(), 5), samples=int(t[1]))
            seen, total = 0, 0.0


if __name__ == "__main__":
    main()
