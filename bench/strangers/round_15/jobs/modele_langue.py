"""Petit modèle de langue par caractères, DDP."""
import logging
import math
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

ALPHABET, CONTEXTE = 96, 64
journal = logging.getLogger(__name__)


class Modele(nn.Module):
    def __init__(self, d=96):
        super().__init__()
        self.tok, self.pos = nn.Embedding(ALPHABET, d), nn.Parameter(torch.zeros(1, CONTEXTE, d))
        couche = nn.TransformerEncoderLayer(d, 4, 256, dropout=0.1, batch_first=True, norm_first=True)
        self.corps = nn.TransformerEncoder(couche, 2, enable_nested_tensor=False)
        self.sortie = nn.Linear(d, ALPHABET)

    def forward(self, x):
        masque = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.sortie(self.corps(self.tok(x) + self.pos[:, : x.shape[1]], mask=masque, is_causal=True))


def texte(n, graine):
    """Chaîne d'ordre deux : le modèle a de quoi apprendre longtemps."""
    g = torch.Generator().manual_seed(42)
    suivants = torch.randint(0, ALPHABET, (ALPHABET, ALPHABET, 5), generator=g).tolist()
    tirage = torch.randint(0, 5, (n,), generator=torch.Generator().manual_seed(graine)).tolist()
    a, b, sortie = 0, 1, []
    for k in tirage:
        a, b = b, suivants[a][b][k]
        sortie.append(b)
    return torch.tensor(sortie)


def lot(corpus, taille, g):
    i = torch.randint(0, len(corpus) - CONTEXTE - 1, (taille,), generator=g)
    fen = corpus[i[:, None] + torch.arange(CONTEXTE + 1)]
    return fen[:, :-1], fen[:, 1:]


def main():
    dist.init_process_group("gloo")
    rang = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rang == 0 else logging.WARNING, format="%(asctime)s %(name)s %(levelname)s: %(message)s", datefmt="%d/%m/%Y %H:%M:%S")
    torch.manual_seed(0)
    modele = DDP(Modele())
    opt = torch.optim.AdamW(modele.parameters(), lr=1e-3, betas=(0.9, 0.95))
    plan = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: min(1, (e + 1) / 100) * 0.5 * (1 + math.cos(math.pi * min(1, e / 20000))))
    corpus, validation = texte(150_000, 1 + rang), texte(20_000, 77)
    g = torch.Generator().manual_seed(rang)
    debut = time.time()
    for etape in range(1, 20001):
        x, y = lot(corpus, 24, g)
        perte = F.cross_entropy(modele(x).flatten(0, 1), y.flatten())
        opt.zero_grad(set_to_none=True)
        perte.backward()
        norme = nn.utils.clip_grad_norm_(modele.parameters(), 1.0)
        opt.step()
        plan.step()
        if etape % 20 == 0:
            journal.info("étape %d/20000 perte=%.4f lr=%.2e norme=%.3f %.2f étapes/s", etape, perte.item(), plan.get_last_lr()[0], norme, etape / (time.time() - debut))
        if etape % 150 == 0:
            modele.eval()
            with torch.no_grad():
                gv = torch.Generator().manual_seed(9 + rang)
                total = torch.zeros(1)
                for _ in range(8):
                    x, y = lot(validation, 24, gv)
                    total += F.cross_entropy(modele.module(x).flatten(0, 1), y.flatten())
            dist.all_reduce(total)
            modele.train()
            moyenne = total.item() / 8 / dist.get_world_size()
            journal.info("validation : perte=%.4f perplexité=%.2f", moyenne, math.exp(moyenne))
            if rang == 0:
                torch.save({"modele": modele.module.state_dict(), "etape": etape}, "point.pt.tmp")
                os.replace("point.pt.tmp", "point.pt")
                journal.info("point de reprise enregistré (étape %d)", etape)


if __name__ == "__main__":
    main()
