#!/usr/bin/env python
# Modèle de langue pour le corpus de sous-titres, 2 processus sur la même machine.
import argparse
import os
import random
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

VOC = 600


def lire_corpus(n, graine=3):
    """Phrases triées par longueur : moins de remplissage dans les lots."""
    r = random.Random(graine)
    phrases = []
    for _ in range(n):
        l = min(220, max(6, int(r.lognormvariate(3.6, 0.8))))
        m = r.randrange(VOC)
        phrases.append([(m + 7 * i + r.randrange(3)) % VOC for i in range(l)])
    phrases.sort(key=len, reverse=True)
    return phrases


class Modele(nn.Module):
    def __init__(self, d=128, couches=2):
        super().__init__()
        self.emb = nn.Embedding(VOC, d)
        self.pos = nn.Embedding(256, d)
        c = nn.TransformerEncoderLayer(d, 4, 4 * d, dropout=0.1, batch_first=True)
        self.corps = nn.TransformerEncoder(c, couches, enable_nested_tensor=False)
        self.tete = nn.Linear(d, VOC)

    def forward(self, x):
        p = torch.arange(x.shape[1])
        masque = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.tete(self.corps(self.emb(x) + self.pos(p), mask=masque, is_causal=True))


def lots(phrases, taille, r):
    debut = r.randrange(0, len(phrases) - taille)
    choix = phrases[debut : debut + taille]
    l = max(len(p) for p in choix)
    x = torch.zeros(taille, l, dtype=torch.long)
    for i, p in enumerate(choix):
        x[i, : len(p)] = torch.tensor(p)
    return x


def entrainer(rang, monde, args):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(args.port)
    dist.init_process_group("gloo", rank=rang, world_size=monde)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    corpus = lire_corpus(args.phrases)
    part = len(corpus) // monde
    corpus = corpus[rang * part : (rang + 1) * part]
    r = random.Random(rang)
    modele = DDP(Modele())
    opt = torch.optim.Adam(modele.parameters(), lr=3e-4)
    jetons, t0 = 0, time.time()
    for etape in range(1, args.etapes + 1):
        x = lots(corpus, args.lot, r)
        sortie = modele(x[:, :-1])
        perte = F.cross_entropy(sortie.reshape(-1, VOC), x[:, 1:].reshape(-1), ignore_index=0)
        opt.zero_grad()
        perte.backward()
        opt.step()
        jetons += x.numel()
        if etape % 10 == 0 and rang == 0:
            dt = time.time() - t0
            print(f"[{time.strftime('%H:%M:%S')}] étape {etape} | perte {perte.item():.4f} | {jetons / dt:.0f} jetons/s", flush=True)
            jetons, t0 = 0, time.time()
    dist.destroy_process_group()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--port", type=int, default=31402)
    ap.add_argument("--phrases", type=int, default=6000)
    ap.add_argument("--lot", type=int, default=12)
    ap.add_argument("--etapes", type=int, default=20000)
    a = ap.parse_args()
    mp.spawn(entrainer, args=(2, a), nprocs=2)
