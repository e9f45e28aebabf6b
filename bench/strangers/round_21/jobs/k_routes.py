# Travel-time model of delivery tours, data parallel.
import os
import time

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class TourEncoder(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.inp = nn.Linear(5, d)
        layer = nn.TransformerEncoderLayer(d, 4, 96, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(d, 1)

    def forward(self, x):
        return self.out(self.enc(self.inp(x)).mean(1)).squeeze(-1)


def make_tours(n, seed=0):
    rng = np.random.default_rng(seed)
    tours = []
    for stops in rng.integers(6, 160, n):
        x = rng.normal(size=(stops, 5)).astype("float32")
        legs = np.linalg.norm(np.diff(x[:, :2], axis=0), axis=1)
        tours.append((x, np.float32(legs.mean() + 0.3 * x[:, 2].mean() + 0.05 * rng.normal())))
    # neighbours of like length go into one batch, so that nothing has to be padded much
    tours.sort(key=lambda t: len(t[0]))
    return tours


def collate(part):
    width = max(len(x) for x, _ in part)
    xs = np.zeros((len(part), width, 5), "float32")
    for i, (x, _) in enumerate(part):
        xs[i, :len(x)] = x
    return torch.from_numpy(xs), torch.tensor(np.array([y for _, y in part]))


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    tours = make_tours(6400)
    per = len(tours) // world
    mine = tours[rank * per:(rank + 1) * per]
    torch.manual_seed(0)
    net = DDP(TourEncoder())
    opt = torch.optim.Adam(net.parameters(), 4e-4)
    rng = np.random.default_rng(7)
    step, t0, total = 0, time.time(), 0.0
    for epoch in range(200):
        for k in rng.permutation(per // 32):
            x, y = collate(mine[k * 32:(k + 1) * 32])
            loss = nn.functional.mse_loss(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            total += loss.item()
            if step % 20 == 0 and rank == 0:
                print(f"epoch={epoch} step={step} mse={total / 20:.4f} sec/step={(time.time() - t0) / 20:.3f}")
                t0, total = time.time(), 0.0


if __name__ == "__main__":
    main()
