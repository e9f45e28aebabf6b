"""Message passing on toy molecules. Prints a rich table every N steps."""
import os
import time

import networkx as nx
import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import nn

torch.set_num_threads(1)
console = Console(width=90)
rng = np.random.default_rng(5)
SAVE_ACTS = os.environ.get("SAVE_ACTS", "0") == "1"


def molecule():
    n = int(rng.integers(8, 24))
    g = nx.random_labeled_tree(n, seed=int(rng.integers(1 << 30)))
    adj = torch.tensor(nx.to_numpy_array(g), dtype=torch.float32)
    pad = torch.zeros(24, 24)
    pad[:n, :n] = adj
    target = float(nx.diameter(g)) / 10
    return pad, torch.cat([torch.ones(n), torch.zeros(24 - n)]), target


class MPNN(nn.Module):
    def __init__(self, d=96, rounds=5):
        super().__init__()
        self.inp = nn.Linear(2, d)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(2 * d, d), nn.ReLU(), nn.Linear(d, d)) for _ in range(rounds))
        self.out = nn.Linear(d, 1)

    def forward(self, adj, mask):
        h = self.inp(torch.stack([adj.sum(-1), mask], -1))
        for f in self.layers:
            h = h + f(torch.cat([h, adj @ h], -1))
        return self.out((h * mask[..., None]).amax(1)).squeeze(1)


pool = [molecule() for _ in range(1500)]
model = MPNN()
opt = torch.optim.Adam(model.parameters(), 1e-3)
stats = {}


def watch(name):
    def hook(module, inputs, output):
        o = output.detach()
        stats[name] = (o.mean().item(), o.std().item(), torch.quantile(o.flatten()[:10000], 0.99).item())

    return hook


rows, t0 = [], time.time()
for step in range(1, 1_000_000):
    if SAVE_ACTS and step % 5 == 1:  # look at the activations from time to time
        for i, layer in enumerate(model.layers):
            layer.register_forward_hook(watch(f"layer{i}"))
    pick = rng.integers(0, len(pool), 128)
    adj, mask, y = (torch.stack([pool[i][k] for i in pick]) if k < 2 else torch.tensor([pool[i][k] for i in pick]) for k in range(3))
    loss = nn.functional.smooth_l1_loss(model(adj, mask), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        rows.append((step, loss.item(), (time.time() - t0) / 20))
        t0 = time.time()
        console.print(f"[bold]step {step}[/] loss {loss.item():.5f}  {rows[-1][2] * 1000:.0f} ms/step")
    if step % 200 == 0:
        table = Table("step", "loss", "s/step", title="last 200 steps")
        for r in rows[-10:]:
            table.add_row(str(r[0]), f"{r[1]:.5f}", f"{r[2]:.4f}")
        console.print(table)
