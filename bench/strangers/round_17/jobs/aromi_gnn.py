# Odori delle molecole: GIN su grafi di dimensioni molto diverse
import random
import time

import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_mean_pool
from tqdm import tqdm

torch.manual_seed(0)
random.seed(0)


def molecola():
    n = min(150, int(random.lognormvariate(3, 0.6)) + 4)
    src = torch.arange(1, n)
    dst = torch.tensor([random.randrange(k) for k in range(1, n)])
    lati = torch.stack([torch.cat([src, dst]), torch.cat([dst, src])])
    x = torch.randn(n, 12)
    y = (x[:, :4].mean(0) + 0.1 * torch.randn(4) > 0).float()[None]
    return Data(x=x, edge_index=lati, y=y)


class Naso(nn.Module):
    def __init__(self):
        super().__init__()
        strato = lambda a, b: GINConv(nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, b)))
        self.uno, self.due, self.testa = strato(12, 48), strato(48, 48), nn.Linear(48, 4)

    def forward(self, d):
        h = self.uno(d.x, d.edge_index).relu()
        h = self.due(h, d.edge_index).relu()
        return self.testa(global_mean_pool(h, d.batch))


grafi = [molecola() for _ in range(2400)]
allena, prova = DataLoader(grafi[:2000], batch_size=16, shuffle=True), DataLoader(grafi[2000:], batch_size=64)
rete = Naso()
ott = torch.optim.Adam(rete.parameters(), lr=1e-3)
fine = time.time() + 170
barra = tqdm(total=200 * len(allena), desc="naso", mininterval=1.0)
for epoca in range(200):
    rete.train()
    for d in allena:
        perdita = nn.functional.binary_cross_entropy_with_logits(rete(d), d.y)
        ott.zero_grad()
        perdita.backward()
        ott.step()
        barra.update()
        barra.set_postfix(epoca=epoca, perdita=f"{perdita.item():.3f}", refresh=False)
    if time.time() > fine:
        break
    if epoca % 3 == 2:
        rete.eval()
        with torch.no_grad():
            giusti = torch.cat([((rete(d) > 0) == d.y.bool()).float() for d in prova]).mean().item()
        tqdm.write(f"epoca {epoca}: esattezza {giusti:.4f}")
