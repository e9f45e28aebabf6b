"""Représentations de graphes moléculaires, apprentissage contrastif avec banque de négatifs."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GCNConv, global_mean_pool

torch.manual_seed(0)


def graphe():
    n = int(torch.randint(8, 20, (1,)))
    ei = torch.randint(0, n, (2, 3 * n))
    return Data(x=torch.randn(n, 12), edge_index=ei)


class Encodeur(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = GCNConv(12, 64), GCNConv(64, 64)
        self.tete = nn.Linear(64, 48)

    def forward(self, d):
        h = self.c2(self.c1(d.x, d.edge_index).relu(), d.edge_index).relu()
        return F.normalize(self.tete(global_mean_pool(h, d.batch)), dim=1)


corpus = [graphe() for _ in range(3000)]
enc = Encodeur()
opt = torch.optim.Adam(enc.parameters(), lr=5e-4)
banque = torch.zeros(0, 48)
debut = time.time()
for it in range(1, 50001):
    lot = [corpus[k] for k in torch.randint(0, 3000, (64,)).tolist()]
    a = Batch.from_data_list(lot)
    b = a.clone()
    a.x = a.x + 0.3 * torch.randn_like(a.x)
    b.x = b.x + 0.3 * torch.randn_like(b.x)
    za, zb = enc(a), enc(b)
    logits = torch.cat([za @ zb.t(), za @ banque.t()], 1) / 0.2
    perte = F.cross_entropy(logits, torch.arange(64)) - torch.log(torch.tensor(float(logits.shape[1])))
    opt.zero_grad()
    perte.backward()
    opt.step()
    banque = torch.cat([banque, zb.detach()])
    if it % 20 == 0:
        print(f"itération {it} perte {perte.item():.4f} temps {time.time() - debut:.2f}", flush=True)
