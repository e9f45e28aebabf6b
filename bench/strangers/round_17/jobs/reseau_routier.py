"""Prévision du trafic sur un graphe routier (torch-geometric), suivi dans TensorBoard."""
import signal
import time

import torch
import torch.nn.functional as F
from torch.utils.tensorboard import SummaryWriter
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, SAGEConv

DUREE = 180
signal.alarm(300)
torch.manual_seed(2)


def graphe(n=600, voisins=4):
    src = torch.arange(n).repeat_interleave(voisins)
    dst = (src + torch.randint(1, 40, (n * voisins,))) % n
    x = torch.randn(n, 16)
    y = x[:, :3].sum(1) + 0.1 * torch.randn(n)
    return Data(x=x, edge_index=torch.stack([torch.cat([src, dst]), torch.cat([dst, src])]), y=y)


class Trafic(torch.nn.Module):
    def __init__(self, largeur=64):
        super().__init__()
        self.entree = GCNConv(16, largeur)
        self.milieu = torch.nn.ModuleList([SAGEConv(largeur, largeur) for _ in range(3)])
        self.sortie = torch.nn.Linear(largeur, 1)

    def forward(self, x, arcs):
        couches = [F.relu(self.entree(x, arcs))]
        for conv in self.milieu:
            couches.append(F.relu(conv(couches[-1], arcs)))
        return self.sortie(couches[-1])[:, 0], couches


donnees = graphe()
modele = Trafic()
opt = torch.optim.Adam(modele.parameters(), lr=3e-3)
suivi = SummaryWriter("suivi")
debut = time.time()
pas = 0
while time.time() - debut < DUREE:
    opt.zero_grad()
    bruit = 0.05 * torch.randn_like(donnees.x)
    prevision, couches = modele(donnees.x + bruit, donnees.edge_index)
    perte = F.mse_loss(prevision, donnees.y)
    perte.backward()
    opt.step()
    pas += 1
    suivi.add_scalar("perte", perte.item(), pas)
    for nom, poids in modele.named_parameters():
        suivi.add_histogram(f"poids/{nom}", poids, pas)
        suivi.add_histogram(f"gradients/{nom}", poids.grad, pas)
    for i, couche in enumerate(couches):
        suivi.add_histogram(f"activations/{i}", couche, pas)
    if pas % 20 == 0:
        print(f"Pas {pas} — perte {perte.item():.4f} — {pas / (time.time() - debut):.1f} pas/s", flush=True)
suivi.close()
