"""GAN für Galaxien-Ausschnitte (ignite), Protokoll auf Deutsch."""
import sys

import torch
from ignite.engine import Engine, Events
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Ausschnitte(Dataset):
    """Nacht für Nacht, in der Folge des Katalogs."""

    def __init__(self, n=60000, seite=24):
        self.n, self.seite = n, seite
        r = torch.linspace(-1, 1, seite)
        self.r2 = r[:, None] ** 2 + r[None] ** 2

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        breite = 0.05 + 0.2 * torch.rand(1, generator=g)
        bild = torch.exp(-self.r2 / breite) + 0.02 * torch.randn(self.seite, self.seite, generator=g)
        belichtet = 0.0 if i % 7919 == 7000 else 1.0
        bild = bild * belichtet
        return ((bild - bild.mean()) / bild.std()).flatten()


G = nn.Sequential(nn.Linear(32, 512), nn.ReLU(), nn.Linear(512, 768), nn.ReLU(), nn.Linear(768, 576))
D = nn.Sequential(nn.Linear(576, 768), nn.LeakyReLU(0.2), nn.Linear(768, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1))
og, od = torch.optim.Adam(G.parameters(), 1e-4, (0.5, 0.9)), torch.optim.Adam(D.parameters(), 5e-5, (0.5, 0.9))
bce = nn.functional.binary_cross_entropy_with_logits


def schritt(engine, echt):
    for _ in range(4):
        falsch = G(torch.randn(len(echt), 32))
        echt_wert, falsch_wert = D(echt), D(falsch.detach())
        ld = bce(echt_wert, torch.full_like(echt_wert, 0.9)) + bce(falsch_wert, torch.zeros_like(falsch_wert))
        od.zero_grad()
        ld.backward()
        od.step()
    wert = D(G(torch.randn(len(echt), 32)))
    lg = bce(wert, torch.ones_like(wert))
    og.zero_grad()
    lg.backward()
    og.step()
    return ld.item(), lg.item()


def zahl(x):
    return f"{x:.4f}".replace(".", ",")


lauf = Engine(schritt)


@lauf.on(Events.ITERATION_COMPLETED(every=5))
def melden(engine):
    d, g = engine.state.output
    print(f"Epoche {engine.state.epoch} · Schritt {engine.state.iteration} · Verlust D {zahl(d)} · Verlust G {zahl(g)}")
    sys.stdout.flush()


lauf.run(DataLoader(Ausschnitte(), batch_size=32), max_epochs=20)
