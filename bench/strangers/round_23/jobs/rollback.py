import copy
import math
import os

import torch
import torch.distributed as dist
from torch import nn

rank = int(os.environ["RANK"])
world = int(os.environ["WORLD_SIZE"])
torch.manual_seed(11)
dist.init_process_group("gloo", init_method="tcp://127.0.0.1:41010", rank=rank, world_size=world)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 64, batch_first=True)
        self.out = nn.Linear(64, 12)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h[:, -1])


def windows(n, gen, noise):
    t0 = torch.rand(n, 1, generator=gen) * 500
    t = t0 + torch.arange(60).float()
    day, week = torch.sin(2 * math.pi * t / 24), torch.cos(2 * math.pi * t / 168)
    y = day * (1 + 0.5 * week) + noise * torch.randn(n, 60, generator=gen)
    feats = torch.stack([y, day, week, torch.cos(2 * math.pi * t / 24)], -1)
    return feats[:, :48], y[:, 48:]


# every site has its own meter quality
noise = [0.05, 0.45][rank]
gen = torch.Generator().manual_seed(100 + rank)
vx, vy = windows(400, gen, noise)
net = Forecaster()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
best, best_state, bad = float("inf"), copy.deepcopy(net.state_dict()), 0


def sync_grads():
    for p in net.parameters():
        dist.all_reduce(p.grad)
        p.grad /= world


def restore():
    net.load_state_dict(best_state)
    for p in net.parameters():
        dist.broadcast(p.data, src=0)
    for g in opt.param_groups:
        g["lr"] *= 0.5


for it in range(1, 100000):
    x, y = windows(64, gen, noise)
    loss = nn.functional.smooth_l1_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    sync_grads()
    opt.step()
    if it % 10 == 0:
        with torch.no_grad():
            val = nn.functional.smooth_l1_loss(net(vx), vy).item()
        print(f"r{rank} | it={it:05d} | huber={loss.item():.5f} | val={val:.5f}", flush=True)
        if val < best:
            best, best_state, bad = val, copy.deepcopy(net.state_dict()), 0
        else:
            bad += 1
        if bad >= 3:
            restore()
            bad = 0
