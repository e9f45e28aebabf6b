"""Next-item model over shop sessions (GRU4Rec-like). Gradients averaged by hand over gloo."""
import csv
import ctypes
import sys
import time

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

ITEMS = 1500


def sessions(n, seed=0):
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.lognormal(2.4, 1.1, n).astype(int), 3, 150)
    lengths.sort()
    out = []
    for length in lengths:
        start, stride = rng.integers(ITEMS), rng.integers(1, 4)
        out.append(torch.from_numpy((start + stride * np.arange(length)) % ITEMS))
    return out


class Ranker(nn.Module):
    def __init__(self, d=96):
        super().__init__()
        self.item = nn.Embedding(ITEMS, d)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.out = nn.Linear(d, ITEMS)

    def forward(self, batch):
        lengths = torch.tensor([len(s) - 1 for s in batch])
        x = pad_sequence([s[:-1] for s in batch], batch_first=True)
        y = pad_sequence([s[1:] for s in batch], batch_first=True, padding_value=-100)
        packed = pack_padded_sequence(self.item(x), lengths, batch_first=True, enforce_sorted=False)
        h, _ = nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return nn.functional.cross_entropy(self.out(h).flatten(0, 1), y.flatten(), ignore_index=-100)


def main():
    ctypes.CDLL(None).prctl(1, 9)  # end with the launcher
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(3)
    data = sessions(24_000)
    share = len(data) // world
    mine = data[rank * share : (rank + 1) * share]
    model = Ranker()
    opt = torch.optim.Adam(model.parameters(), lr=5e-4)
    rng = np.random.default_rng(rank)
    table = csv.writer(sys.stdout)
    if rank == 0:
        table.writerow(["step", "loss", "seconds"])
    step = 0
    while True:
        order = rng.permutation(len(mine))
        for lo in range(0, len(mine) - 95, 96):
            t0 = time.time()
            loss = model([mine[i] for i in order[lo : lo + 96]])
            opt.zero_grad()
            loss.backward()
            flat = torch.cat([p.grad.flatten() for p in model.parameters()])
            dist.all_reduce(flat)
            flat /= world
            at = 0
            for p in model.parameters():
                p.grad.copy_(flat[at : at + p.numel()].view_as(p))
                at += p.numel()
            opt.step()
            step += 1
            if rank == 0 and step % 3 == 0:
                table.writerow([step, f"{loss.item():.4f}", f"{time.time() - t0:.3f}"])
                sys.stdout.flush()


if __name__ == "__main__":
    main()
