"""Matrix factorisation with sampled negatives. Every process reads its own shards in turn."""

import fcntl
import os
from datetime import datetime
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

USERS, ITEMS, DIM = 20_000, 8_000, 64
STEPS_PER_SHARD = 60


def say(text):
    print(f"{datetime.now():%H:%M:%S} [r{os.environ['RANK']}] {text}")


def load_shard(number):
    """The shard's interactions; locked, as the syncer may replace it under us."""
    with Path(f"shards/part-{number}.idx").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        gen = torch.Generator().manual_seed(int(file.read()))
        fcntl.flock(file, fcntl.LOCK_UN)
    return torch.randint(0, USERS, (40_000,), generator=gen), torch.randint(0, 300, (40_000,), generator=gen)


class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.users = nn.Embedding(USERS, DIM)
        self.items = nn.Embedding(ITEMS, DIM)
        self.mix = nn.Sequential(nn.Linear(2 * DIM, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, u, i):
        return self.mix(torch.cat([self.users(u), self.items(i)], -1)).squeeze(-1)


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    model = Factors()
    optimizer = torch.optim.Adagrad(model.mix.parameters(), lr=0.05)
    turn = step = 0
    while True:
        shard = (turn * world + rank) % 12
        users, items = load_shard(shard)
        say(f"shard {shard} loaded, {len(users)} interactions")
        for _ in range(STEPS_PER_SHARD):
            pick = torch.randint(0, len(users), (2048,))
            negatives = torch.randint(0, ITEMS, (2048,))
            positive, negative = model(users[pick], items[pick]), model(users[pick], negatives)
            loss = -nn.functional.logsigmoid(positive - negative).mean()
            optimizer.zero_grad()
            loss.backward()
            for p in model.mix.parameters():
                dist.all_reduce(p.grad)
                p.grad /= world
            optimizer.step()
            step += 1
            if step % 10 == 0:
                say(f"iter {step} bpr {loss.item():.4f}")
        turn += 1


if __name__ == "__main__":
    main()
