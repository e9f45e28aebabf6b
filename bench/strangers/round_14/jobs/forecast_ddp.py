import argparse
import logging
import math
import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int, default=300)
p.add_argument("--lr", type=float, default=8e-4)
args = p.parse_args()
dist.init_process_group("gloo")
R, W = dist.get_rank(), dist.get_world_size()
logging.basicConfig(level=logging.INFO if R == 0 else logging.WARNING, format="[%(asctime)s rank" + str(R) + "] %(message)s")


def load(n, seed):
    g = torch.Generator().manual_seed(seed)
    a, b, c = torch.rand(3, n, 1, generator=g)
    t = torch.arange(96.0)
    s = torch.sin(t * (0.1 + a * 0.4) + 6 * b) + c * torch.sin(t * 0.52) + 0.3 * torch.randn(n, 96, generator=g)
    return TensorDataset(s[:, :72, None], s[:, 72:])


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.GRU(1, 64, batch_first=True)
        self.head = torch.nn.Linear(64, 24)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


torch.manual_seed(0)
model = DDP(Model())
opt = torch.optim.Adam(model.parameters(), args.lr)
train, val = load(16000, 1), load(1600, 2)
sampler = DistributedSampler(train)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 200) * 0.5 * (1 + math.cos(min(1.0, s / 40000) * math.pi)))
logging.info("world size %d, %d series", W, len(train))
for epoch in range(args.epochs):
    sampler.set_epoch(epoch)
    t = time.time()
    for i, (x, y) in enumerate(DataLoader(train, 64, sampler=sampler)):
        loss = torch.nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        gn = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        if i % 25 == 0:
            logging.info("epoch %d batch %d/125 loss %.4f grad_norm %.3f lr %.2e", epoch, i, loss, gn, sched.get_last_lr()[0])
    with torch.no_grad():
        s = torch.zeros(2)
        for x, y in DataLoader(val, 100, sampler=DistributedSampler(val, shuffle=False)):
            s += torch.tensor([torch.nn.functional.mse_loss(model.module(x), y).item(), 1.0])
    dist.all_reduce(s)
    logging.info("epoch %d done in %.1fs, validation mse %.4f", epoch, time.time() - t, s[0] / s[1])
    if R == 0:
        torch.save(model.module.state_dict(), "last.tmp")
        os.replace("last.tmp", "last.pt")
    dist.barrier()
