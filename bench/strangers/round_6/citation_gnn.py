"""Node classification on a random citation graph with neighbour sampling and an embedding history."""

import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--history", type=int, default=50, help="how many past embeddings to keep, 0: all")
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(8)

N, DEGREE, CLASSES = 20000, 8, 7
labels = torch.randint(CLASSES, (N,))
features = torch.randn(CLASSES, 64)[labels] + 1.5 * torch.randn(N, 64)
neighbours = torch.randint(N, (N, DEGREE))


class Sage(nn.Module):
    def __init__(self):
        super().__init__()
        self.own = nn.Linear(64, 96)
        self.near = nn.Linear(64, 96)
        self.out = nn.Linear(96, CLASSES)

    def forward(self, nodes):
        h = torch.relu(self.own(features[nodes]) + self.near(features[neighbours[nodes]].mean(1)))
        return h, self.out(h)


net = Sage()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
history = []
print(f"graph: {N} nodes, {N * DEGREE} edges", flush=True)
for step in range(1, 1_000_000):
    nodes = torch.randint(N, (512,))
    hidden, logits = net(nodes)
    loss = nn.functional.cross_entropy(logits, labels[nodes])
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append((step, hidden, loss))
    if args.history and len(history) > args.history:
        history.pop(0)
    time.sleep(0.06)
    if step % 20 == 0:
        drift = (history[-1][1].mean() - history[0][1].mean()).item()
        mean = sum(item[2].item() for item in history[-20:]) / 20
        print(f"step {step:5d}  loss {mean:.4f}  drift {drift:+.4f}", flush=True)
