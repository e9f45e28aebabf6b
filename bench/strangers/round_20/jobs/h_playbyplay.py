"""Win probability from play-by-play event streams (GRU, DDP)."""
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.utils.rnn import pack_sequence

EVENTS = 64


def season(n, seed=7):
    """Games, as the feed exports them (by number of events)."""
    g = torch.Generator().manual_seed(seed)
    lengths = (torch.empty(n).exponential_(1 / 60, generator=g) + 20).clamp(max=330).long().sort().values
    games = []
    for length in lengths.tolist():
        ids = torch.randint(EVENTS, (length,), generator=g)
        score = ((ids % 7 == 0).float() - (ids % 7 == 3).float()).sum()
        games.append((ids, float(score + 0.5 * torch.randn((), generator=g) > 0)))
    return games


class WinProb(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(EVENTS, 48)
        self.rnn = nn.GRU(48, 64, batch_first=True)
        self.out = nn.Linear(64, 1)

    def forward(self, games):
        packed = pack_sequence([self.emb(g) for g in games], enforce_sorted=False)
        _, h = self.rnn(packed)
        return self.out(h[-1]).squeeze(-1)


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    games = season(4000)
    share = len(games) // world
    games = games[rank * share:(rank + 1) * share]
    model = DDP(WinProb())
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    g = torch.Generator().manual_seed(rank)
    began, ema = time.time(), 0.69
    for step in range(100_000):
        picked = torch.randint(len(games), (16,), generator=g).tolist()
        x, y = [games[i][0] for i in picked], torch.tensor([games[i][1] for i in picked])
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema = 0.95 * ema + 0.05 * loss.item()
        if rank == 0 and step % 10 == 0:
            print(f"step={step} logloss={ema:.4f} games/s={(step + 1) * 16 * world / (time.time() - began):.0f}")


if __name__ == "__main__":
    main()
