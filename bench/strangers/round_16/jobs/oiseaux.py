"""Classification de chants d'oiseaux (spectrogrammes), trois processus."""
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

ESPECES = 12
MONDE = 3


def lot(gen, n=16):
    y = torch.randint(0, ESPECES, (n,), generator=gen)
    x = torch.randn(n, 1, 32, 48, generator=gen)
    for i, k in enumerate(y.tolist()):
        x[i, 0, 2 * k : 2 * k + 4] += 0.12
    return x, y


def reseau():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, stride=2), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d((7, 1)), nn.Flatten(), nn.Linear(224, ESPECES),
    )


def moyenne_globale(compte):
    """Justes / total, réunis de tous les processus."""
    parts = [torch.zeros_like(compte) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, compte)
    justes, total = torch.stack(parts).sum(0).tolist()
    return justes / total


def entrainer(rang):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="31504", RANK=str(rang), WORLD_SIZE=str(MONDE))
    dist.init_process_group("gloo", rank=rang, world_size=MONDE)
    torch.set_num_threads(1)
    gen = torch.Generator().manual_seed(rang)
    torch.manual_seed(0)
    modele = DDP(reseau())
    opt = torch.optim.SGD(modele.parameters(), lr=0.02, momentum=0.9)
    for epoque in range(1, 400):
        modele.train()
        for it in range(1, 101):
            x, y = lot(gen)
            perte = nn.functional.cross_entropy(modele(x), y)
            opt.zero_grad()
            perte.backward()
            opt.step()
            if rang == 0 and it % 20 == 0:
                print(f"époque {epoque} | itération {it}/100 | perte {perte.item():.3f}", flush=True)
        if epoque % 3 == 0 and rang == 0:
            print(f"validation après l'époque {epoque}", flush=True)
            modele.eval()
            compte = torch.zeros(2)
            with torch.no_grad():
                for _ in range(20):
                    x, y = lot(gen)
                    compte += torch.tensor([(modele.module(x).argmax(1) == y).sum().item(), len(y)])
            print(f"exactitude {moyenne_globale(compte):.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    print(f"lancement de {MONDE} processus, python {sys.version.split()[0]}", flush=True)
    mp.spawn(entrainer, nprocs=MONDE)
