"""Day-ahead load forecasting, LSTM, data parallel.

DEBUG_RANK=<n> attaches VS Code to that rank.
"""
import json
import math
import os
import sys
import time


def log(event, **fields):
    print(json.dumps({"ts": round(time.time(), 3), "rank": RANK, "event": event, **fields}), flush=True)


RANK = int(os.environ.get("RANK", 0))

if os.environ.get("DEBUG_RANK") == str(RANK):
    import debugpy

    debugpy.listen(("127.0.0.1", 31120 + RANK))
    debugpy.wait_for_client()

import torch
import torch.distributed as dist
from torch import nn


class Net(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.rnn = nn.LSTM(4, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 24)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(out[:, -1])


def sample(n, gen):
    t0 = torch.randint(0, 24 * 365, (n, 1), generator=gen)
    t = t0 + torch.arange(168 + 24)
    day, week = 2 * math.pi * t / 24, 2 * math.pi * t / 168
    y = torch.sin(day) + 0.4 * torch.sin(week) + 0.1 * torch.randn(t.shape, generator=gen)
    x = torch.stack([y, torch.sin(day), torch.cos(day), torch.sin(week)], -1)
    return x[:, :168], y[:, 168:]


def main():
    log("connect", world=int(os.environ["WORLD_SIZE"]), addr=os.environ["MASTER_ADDR"])
    dist.init_process_group("gloo")
    log("connected")
    gen = torch.Generator().manual_seed(RANK)
    net = nn.parallel.DistributedDataParallel(Net())
    opt = torch.optim.Adam(net.parameters(), 2e-3)
    for step in range(20000):
        x, y = sample(32, gen)
        loss = nn.functional.l1_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            log("train", step=step, mae=round(loss.item(), 5))
    dist.destroy_process_group()


if __name__ == "__main__":
    sys.exit(main())
