# Previsão de cliques (CTR) com fatoração - treino distribuído com mp.spawn
import os
import time
from collections import deque

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from sklearn.metrics import roc_auc_score
from torch import nn

CAMPOS = 12
VOCAB = 2000
LOTE = 256


class FM(nn.Module):
    def __init__(self, k=16):
        super().__init__()
        self.emb = nn.Embedding(VOCAB * CAMPOS, k)
        self.lin = nn.Embedding(VOCAB * CAMPOS, 1)
        self.mlp = nn.Sequential(nn.Linear(CAMPOS * k, 128), nn.ReLU(), nn.Linear(128, 1))
        nn.init.normal_(self.emb.weight, std=0.02)
        nn.init.zeros_(self.lin.weight)

    def forward(self, x):
        e = self.emb(x)
        s = e.sum(1)
        inter = 0.5 * (s * s - (e * e).sum(1)).sum(1)
        return self.lin(x).sum((1, 2)) + inter + self.mlp(e.flatten(1)).squeeze(1)


def lotes(semente):
    rng = np.random.default_rng(semente)
    peso = np.random.default_rng(99).normal(0, 0.8, VOCAB * CAMPOS)
    base = np.arange(CAMPOS) * VOCAB
    while True:
        ids = (rng.zipf(1.4, (LOTE, CAMPOS)) % VOCAB) + base
        p = 1 / (1 + np.exp(-(peso[ids].sum(1) - 1)))
        y = rng.random(LOTE) < p
        yield torch.from_numpy(ids), torch.from_numpy(y.astype("float32"))


def media(params, n):
    plano = torch.cat([p.grad.flatten() for p in params])
    dist.all_reduce(plano)
    plano /= n
    i = 0
    for p in params:
        p.grad.copy_(plano[i : i + p.numel()].view_as(p))
        i += p.numel()


def trabalhador(rank, n):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = "31112"
    os.environ["RANK"] = str(rank)
    os.environ["WORLD_SIZE"] = str(n)
    dist.init_process_group("gloo", rank=rank, world_size=n)
    torch.manual_seed(1)
    rede = FM()
    params = list(rede.parameters())
    otim = torch.optim.Adagrad(params, lr=0.02)
    perda_fn = nn.BCEWithLogitsLoss()
    hist_y, hist_p = deque(maxlen=40), deque(maxlen=40)
    inicio = time.time()
    for passo, (x, y) in enumerate(lotes(100 + rank), 1):
        otim.zero_grad()
        z = rede(x)
        perda = perda_fn(z, y)
        perda.backward()
        media(params, n)
        otim.step()
        if rank == 0:
            hist_y.append(y.numpy())
            hist_p.append(torch.sigmoid(z).detach().numpy())
            yy, pp = np.concatenate(hist_y), np.concatenate(hist_p)
            # AUC com intervalo de confiança (bootstrap)
            rng = np.random.default_rng(passo)
            aucs = []
            for _ in range(30):
                i = rng.integers(0, len(yy), len(yy))
                aucs.append(roc_auc_score(yy[i], pp[i]))
            if passo % 10 == 0:
                ritmo = passo / (time.time() - inicio)
                print(f"[passo {passo:>6}] perda={perda.item():.4f} auc={np.mean(aucs):.4f}±{np.std(aucs):.4f} {ritmo:.1f} passos/s")


if __name__ == "__main__":
    mp.spawn(trabalhador, args=(2,), nprocs=2)
