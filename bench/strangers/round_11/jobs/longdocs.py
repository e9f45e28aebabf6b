# Klassifikation von Gerichtsurteilen, GRU über Wort-IDs
import logging
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

log = logging.getLogger("urteile")


def korpus():
    g = torch.Generator().manual_seed(5)
    laengen = torch.randint(12, 260, (4000,), generator=g)
    texte = []
    for nr, n in enumerate(laengen.sort().values.tolist()):
        woerter = torch.randint(1, 3000, (n,), generator=g)
        fach = torch.randint(1, 600, (n,), generator=g) * 5 - 4 + nr % 5
        texte.append((torch.where(torch.rand(n, generator=g) < 0.3, fach.clamp(max=2999), woerter), nr % 5))
    return texte


class Modell(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(3000, 64, padding_idx=0)
        self.gru = nn.GRU(64, 96, batch_first=True)
        self.aus = nn.Linear(96, 5)

    def forward(self, x):
        h, _ = self.gru(self.emb(x))
        return self.aus(h.mean(1))


def arbeiter(rang, welt):
    os.environ.update(RANK=str(rang), WORLD_SIZE=str(welt), LOCAL_RANK=str(rang), MASTER_ADDR="127.0.0.1", MASTER_PORT="31003")
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s %(name)s[{rang}] %(levelname)s %(message)s")
    dist.init_process_group("gloo", rank=rang, world_size=welt)
    texte = korpus()
    je = len(texte) // welt
    meine = texte[rang * je:(rang + 1) * je]
    torch.manual_seed(0)
    netz = nn.parallel.DistributedDataParallel(Modell())
    opt = torch.optim.Adam(netz.parameters(), 1e-3)
    g = torch.Generator().manual_seed(rang)
    for schritt in range(200000):
        idx = torch.randint(0, je, (24,), generator=g).tolist()
        batch = nn.utils.rnn.pad_sequence([meine[i][0] for i in idx], batch_first=True)
        ziel = torch.tensor([meine[i][1] for i in idx])
        verlust = nn.functional.cross_entropy(netz(batch), ziel)
        opt.zero_grad(set_to_none=True)
        verlust.backward()
        opt.step()
        if schritt % 20 == 0:
            log.info("Schritt %d Verlust %.4f Länge %d", schritt, verlust.item(), batch.shape[1])


if __name__ == "__main__":
    mp.spawn(arbeiter, args=(2,), nprocs=2)
