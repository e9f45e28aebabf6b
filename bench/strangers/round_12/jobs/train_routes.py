"""Next-stop prediction for delivery routes. Resumes from ckpt/last.pt."""
import os
import time

import torch
from torch import nn

STOPS = 3000


def day(d):
    """Routes of one day; stop ids as the depot numbers them."""
    g = torch.Generator().manual_seed(d)
    start = torch.randint(0, STOPS - 130, (48, 1), generator=g)
    hop = torch.randint(1, 5, (48, 32), generator=g).cumsum(1)
    ids = start + hop
    if d == 187:  # new depot
        ids[3, 20:] += STOPS
    return ids


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(STOPS, 64)
        self.rnn = nn.GRU(64, 128, batch_first=True)
        self.out = nn.Linear(128, STOPS)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


torch.manual_seed(0)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
first = 0
os.makedirs("ckpt", exist_ok=True)
if os.path.exists("ckpt/last.pt"):
    state = torch.load("ckpt/last.pt")
    net.load_state_dict(state["net"])
    opt.load_state_dict(state["opt"])
    first = state["day"] + 1
    print(f"resumed at day {first}")
t0 = time.time()
for d in range(first, 100000):
    ids = day(d)
    loss = nn.functional.cross_entropy(net(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if d % 10 == 0:
        print(f"day {d:5d} loss {loss.item():.4f} ({time.time() - t0:.1f}s)")
    if d % 50 == 49:
        torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "day": d}, "ckpt/last.tmp")
        os.replace("ckpt/last.tmp", "ckpt/last.pt")
