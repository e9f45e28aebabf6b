"""Insulin dosing from glucose traces, two processes with accelerate; shards come from an archive that is sometimes busy."""
import random
import time

import torch
from accelerate import Accelerator
from torch import nn

acc = Accelerator(cpu=True)
torch.manual_seed(1)
rnd = random.Random(acc.process_index)
net = nn.GRU(4, 96, batch_first=True)
head = nn.Linear(96, 1)


class Doser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.head = net, head

    def forward(self, x):
        return self.head(self.net(x)[0][:, -1]).squeeze(-1)


model = Doser()
opt = torch.optim.AdamW(model.parameters(), 1e-3)
model, opt = acc.prepare(model, opt)


def shard(number):
    for attempt in range(3):
        if rnd.random() < 0.8:
            break
        print(f"[proc {acc.process_index}] archive busy, retry {attempt + 1}/3 for shard {number}: ok", flush=True)
    g = torch.Generator().manual_seed(number * 2 + acc.process_index)
    x = torch.randn(20 * 32, 36, 4, generator=g)
    return x, x[:, -6:, 0].sum(1) * 0.5 + 0.2 * torch.randn(len(x), generator=g)


step = 0
for number in range(100000):
    x, y = shard(number % 300)
    size = 32 if acc.process_index == 0 else 26
    for k in range(20):
        bx, by = x[k * size:(k + 1) * size], y[k * size:(k + 1) * size]
        loss = nn.functional.l1_loss(model(bx), by)
        acc.backward(loss)
        opt.step()
        opt.zero_grad()
        step += 1
        time.sleep(0.02)
        if step % 40 == 0:
            acc.print(f"{time.strftime('%H:%M:%S')} step {step} mean absolute error {loss.item():.4f} units")
