# Apprentissage contrastif texte-image, quatre lignes de journal par époque et le détail tous les 10 pas
import logging, os, sys, time
import torch, torch.distributed as dist, torch.nn.functional as F
from torch import nn

dist.init_process_group("gloo")
RANG, NB = dist.get_rank(), dist.get_world_size()
torch.set_num_threads(1)
logging.basicConfig(stream=sys.stdout, level=logging.INFO if RANG == 0 else logging.ERROR, format="%(asctime)s %(levelname)s %(message)s", datefmt="%Hh%M:%S")
journal = logging.getLogger("clip")
PAIRES = [int(n) for n in os.environ.get("PAIRES", "2400").split(",")][RANG % len(os.environ.get("PAIRES", "2400").split(","))]
LOT = 32
JETER = os.environ.get("JETER_LE_RESTE", "1") == "1"


class Tour(nn.Module):
    def __init__(self, entree):
        super().__init__()
        self.r = nn.Sequential(nn.Linear(entree, 384), nn.GELU(), nn.Linear(384, 384), nn.GELU(), nn.Linear(384, 64))

    def forward(self, x):
        return F.normalize(self.r(x), dim=1)


class Paire(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.texte, self.t = Tour(300), Tour(120), nn.Parameter(torch.tensor(2.0))

    def forward(self, i, t):
        return self.image(i), self.texte(t), self.t.exp()


torch.manual_seed(1)
base_i, base_t = torch.randn(64, 300), torch.randn(64, 120)
modele = nn.parallel.DistributedDataParallel(Paire())
opt = torch.optim.AdamW(modele.parameters(), 5e-4)
torch.manual_seed(50 + RANG)
for epoque in range(1, 500):
    restantes, pas = PAIRES, 0
    journal.info("Époque %d : %d paires par processus", epoque, PAIRES)
    while restantes > 0:
        n = min(LOT, restantes)
        if n < LOT and JETER:
            break
        restantes -= n
        pas += 1
        z = torch.randn(n, 64)
        time.sleep(0.03)  # lecture des images sur le partage
        zi, zt, t = modele(z @ base_i + torch.randn(n, 300), z @ base_t + torch.randn(n, 120))
        recus = [torch.empty(n, 64) for _ in range(NB)]
        dist.all_gather(recus, zt.detach().contiguous())
        recus[RANG] = zt
        tous = torch.cat(recus)
        cible = torch.arange(n) + RANG * n
        perte = F.cross_entropy(zi @ tous.T * t, cible)
        opt.zero_grad(); perte.backward(); opt.step()
        if pas % 10 == 0:
            journal.info("époque %d pas %d perte %.4f température %.3f", epoque, pas, perte.item(), 1 / t.item())
    journal.info("Époque %d terminée. Exactitude sur la validation : non calculée (erreur attendue, voir ticket)", epoque)
