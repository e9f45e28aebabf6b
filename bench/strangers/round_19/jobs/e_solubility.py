"""Solubility of molecules with a GCN; candidate lists are kept fresh beside the training."""
import random, threading, time
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_mean_pool

torch.manual_seed(1)
random.seed(1)


def molecule():
    n = random.randint(8, 24)
    src = [random.randrange(i) for i in range(1, n)]
    dst = list(range(1, n))
    x = torch.randn(n, 16)
    return Data(x=x, edge_index=torch.tensor([src + dst, dst + src]), y=x[:, :3].mean().view(1) * 4)


mols = [molecule() for _ in range(800)]
prints = [{random.randrange(2048) for _ in range(60)} for _ in range(3000)]
nearest = {}


def refresh(part):
    while True:
        for i in range(part, len(prints), 3):
            a, best, where = prints[i], 0.0, -1
            for j, b in enumerate(prints):
                both = 0
                for bit in a:
                    if bit in b:
                        both += 1
                score = both / (len(a) + len(b) - both)
                if j != i and score > best:
                    best, where = score, j
            nearest[i] = (where, best)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.out = GCNConv(16, 48), GCNConv(48, 48), nn.Linear(48, 1)

    def forward(self, d):
        h = self.a(d.x, d.edge_index).relu()
        h = self.b(h, d.edge_index).relu()
        return self.out(global_mean_pool(h, d.batch)).squeeze(1)


for part in range(3):
    threading.Thread(target=refresh, args=(part,), daemon=True, name=f"neighbours-{part}").start()
net = Net()
opt = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(100000):
    for k, batch in enumerate(DataLoader(mols, batch_size=32, shuffle=True)):
        t = time.perf_counter()
        loss = (net(batch) - batch.y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if k % 5 == 0:
            print(f"epoch={epoch} batch={k} mse={loss.item():.5f} step={1e3 * (time.perf_counter() - t):.1f}ms lists={len(nearest)}")
