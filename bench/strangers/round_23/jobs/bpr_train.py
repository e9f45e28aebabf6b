"""Bayesian personalised ranking on listening histories."""
import os, time
import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

N_USERS, N_ITEMS, DIM, BATCH = 60000, 1200, 64, 256


def load_histories(rank, world):
    rng = np.random.default_rng(2024)
    taste = rng.normal(size=(24, N_ITEMS)).astype(np.float32)
    group = rng.integers(0, 24, N_USERS)
    activity = np.clip(rng.pareto(1.3, N_USERS) * 12 + 5, 5, 900).astype(int)
    activity[41377] = N_ITEMS
    shard = range(rank * N_USERS // world, (rank + 1) * N_USERS // world)
    seen = {}
    for u in shard:
        k = activity[u]
        noise = np.random.default_rng(u).gumbel(size=N_ITEMS) + 2 * taste[group[u]]
        seen[u] = set(np.argpartition(-noise, k - 1)[:k].tolist())
    return seen


class MF(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(N_USERS, DIM)
        self.item = nn.Embedding(N_ITEMS, DIM)
        self.mlp = nn.Sequential(nn.Linear(2 * DIM, 256), nn.ReLU(), nn.Linear(256, 1))
        nn.init.normal_(self.user.weight, std=0.05)
        nn.init.normal_(self.item.weight, std=0.05)

    def score(self, u, i):
        a, b = self.user(u), self.item(i)
        return (a * b).sum(-1) + self.mlp(torch.cat([a, b], -1)).squeeze(-1)

    def forward(self, u, pos, neg):
        return self.score(u, pos) - self.score(u, neg)


def draw(users, seen, rng):
    pos = np.empty(len(users), dtype=np.int64)
    neg = np.empty(len(users), dtype=np.int64)
    for k, u in enumerate(users):
        items = seen[u]
        pos[k] = next(iter(items)) if rng.random() < 0.1 else rng.choice(list(items))
        while True:
            j = int(rng.integers(N_ITEMS))
            if j not in items:
                break
        neg[k] = j
    return torch.as_tensor(pos), torch.as_tensor(neg)


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    seen = load_histories(rank, world)
    users = np.array(sorted(seen))
    rng = np.random.default_rng(rank)
    rng.shuffle(users)
    model = DDP(MF())
    opt = torch.optim.Adagrad(model.parameters(), lr=0.05)
    dist.barrier()
    if rank == 0:
        print(f"[bpr] {N_USERS} users x {N_ITEMS} items, {world} shards", flush=True)
    step, t = 0, time.time()
    for epoch in range(200):
        for s in range(0, len(users) - BATCH + 1, BATCH):
            u = users[s : s + BATCH]
            pos, neg = draw(u, seen, rng)
            loss = -F.logsigmoid(model(torch.as_tensor(u), pos, neg)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if rank == 0 and step % 5 == 0:
                print(f"[bpr] epoch {epoch} step {step} loss {loss.item():.4f} ({5 * BATCH * world / (time.time() - t):.0f} ex/s)", flush=True)
                t = time.time()
        rng.shuffle(users)


main()
