"""Fraud in card histories: GRU over the last 24 transactions; frauds are rare and weigh more, so single batches differ a lot."""
import logging
import os

import numpy as np
import torch
from sklearn.metrics import average_precision_score
from torch import nn

logging.basicConfig(format="[%(asctime)s.%(msecs)03d] %(message)s", datefmt="%H:%M:%S", level=logging.INFO)
F, T, B = 12, 24, 48


def histories(g, n):
    y = (torch.rand(n, generator=g) < 0.04).float()
    x = torch.randn(n, T, F, generator=g)
    amount = x[:, :, 0].cumsum(1) * 0.2
    x[:, :, 1] += amount
    burst = torch.rand(n, 1, generator=g) * 1.4 + 0.6
    x[:, -6:, 2] += y[:, None] * burst
    x[:, -6:, 3] -= y[:, None] * burst * 0.6
    return x, y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(F, 48, batch_first=True)
        self.head = nn.Sequential(nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1]).squeeze(1)


torch.manual_seed(0)
g = torch.Generator().manual_seed(1)
dev_x, dev_y = histories(torch.Generator().manual_seed(2), 6000)
net = Net()
opt = torch.optim.Adam(net.parameters(), 1.5e-4)
weight = torch.tensor(8.0)
for it in range(1, 2_000_000):
    x, y = histories(g, B)
    loss = nn.functional.binary_cross_entropy_with_logits(net(x), y, pos_weight=weight)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 25 == 0:
        logging.info("iter %d frauds %d loss %.4f", it, int(y.sum()), loss.item())
    if it % 500 == 0:
        with torch.no_grad():
            score = torch.cat([net(part) for part in dev_x.split(500)])
        logging.info("iter %d dev AP %.4f dev loss %.4f", it, average_precision_score(dev_y, score),
                     nn.functional.binary_cross_entropy_with_logits(score, dev_y, pos_weight=weight).item())
        os.makedirs("models", exist_ok=True)
        torch.save(net.state_dict(), f"models/{it % 3000:05d}.pt")
