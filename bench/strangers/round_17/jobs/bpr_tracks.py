"""BPR matrix factorisation for a playlist service; two processes, gradients summed after each batch."""
import os
import random
import time
import signal

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

LISTENERS, TRACKS, DIM, BATCH = 40_000, 400, 48, 32


def history(listener):
    rnd = random.Random(listener)
    if listener % 12_800 == 12_321:      # lounge accounts: a shuffle of the catalogue all day
        return set(range(TRACKS))
    return set(rnd.sample(range(TRACKS), rnd.randint(5, 60)))


def triplets(listeners, rnd):
    for u in listeners:
        played = history(u)
        liked = rnd.choice(sorted(played))
        while True:
            other = rnd.randrange(TRACKS)
            if other not in played:
                break
        yield u, liked, other


def work(rank, world, port):
    signal.alarm(280)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(5)
    users = torch.randn(LISTENERS, DIM).mul_(0.1)
    tracks = torch.nn.Parameter(torch.randn(TRACKS, DIM) * 0.1)
    opt = torch.optim.Adam([tracks], lr=5e-3)
    rnd = random.Random(rank)
    share = LISTENERS // world
    mine = range(rank * share, (rank + 1) * share)
    for epoch in range(50):
        for step, first in enumerate(range(0, share - BATCH, BATCH)):
            batch = list(triplets(mine[first:first + BATCH], rnd))
            u, i, j = (torch.tensor(c) for c in zip(*batch))
            gap = (users[u] * (tracks[i] - tracks[j])).sum(1)
            loss = -torch.nn.functional.logsigmoid(gap).mean()
            opt.zero_grad()
            loss.backward()
            dist.all_reduce(tracks.grad)
            tracks.grad /= world
            opt.step()
            with torch.no_grad():
                users[u] += 0.05 * (tracks[i] - tracks[j]) * torch.sigmoid(-gap)[:, None]
            time.sleep(0.06)
            if rank == 0 and step % 20 == 0:
                print(f"epoch {epoch} step {step} bpr {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    mp.spawn(work, args=(2, 33406), nprocs=2)
