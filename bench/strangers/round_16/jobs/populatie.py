"""Zoektocht naar instellingen met een populatie (PBT) voor de energievraag per uur."""
import csv
import multiprocessing as mp
import random
import sys

import torch
import torch.nn as nn

LEDEN, DRADEN = 8, 6


def gegevens(n, g):
    t = torch.rand(n, 1, generator=g) * 50
    x = torch.cat([torch.sin(t * k / 3) for k in range(1, 33)], 1)
    y = torch.sin(t) + 0.5 * torch.sin(3.3 * t) + 0.1 * torch.randn(n, 1, generator=g)
    return x, y


def ronde(taak):
    lid, lr, gewichten, zaad = taak
    torch.set_num_threads(DRADEN)
    g = torch.Generator().manual_seed(zaad)
    net = nn.Sequential(nn.Linear(32, 384), nn.ReLU(), nn.Linear(384, 384), nn.ReLU(), nn.Linear(384, 1))
    if gewichten is not None:
        net.load_state_dict({k: torch.from_numpy(v) for k, v in gewichten.items()})
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for _ in range(25):
        x, y = gegevens(1024, g)
        verlies = (net(x) - y).pow(2).mean()
        opt.zero_grad()
        verlies.backward()
        opt.step()
    return lid, verlies.item(), {k: v.numpy() for k, v in net.state_dict().items()}


def main():
    rnd = random.Random(1)
    lrs = [10 ** rnd.uniform(-4, -2.3) for _ in range(LEDEN)]
    gewichten = [None] * LEDEN
    uit = csv.writer(sys.stdout)
    uit.writerow(["ronde", "lid", "lr", "verlies"])
    with mp.get_context("fork").Pool(LEDEN) as pool:
        for r in range(2000):
            taken = [(i, lrs[i], gewichten[i], r * 100 + i) for i in range(LEDEN)]
            uitslag = {}
            for lid, v, w in pool.imap_unordered(ronde, taken):
                uitslag[lid], gewichten[lid] = v, w
                uit.writerow([r, lid, f"{lrs[lid]:.2e}", f"{v:.5f}"])
                sys.stdout.flush()
            rij = sorted(uitslag, key=uitslag.get)
            gewichten[rij[-1]] = gewichten[rij[0]]
            lrs[rij[-1]] = lrs[rij[0]] * rnd.choice([0.8, 1.2])


if __name__ == "__main__":
    main()
