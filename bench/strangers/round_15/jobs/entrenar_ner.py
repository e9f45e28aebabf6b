"""Etiquetado de entidades (NER) sobre el corpus de actas municipales. Lanzar con torchrun."""
import os
import time

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.utils.rnn import pad_sequence

VOCAB, ETIQUETAS, LOTE = 4000, 9, 16


def cargar_corpus(n=1600, semilla=11):
    gen = np.random.default_rng(semilla)
    largos = np.clip(gen.lognormal(4.0, 0.9, n).astype(int), 12, 420)
    # ordenamos por longitud para que cada lote tenga poco relleno
    largos.sort()
    docs = []
    for l in largos:
        x = torch.from_numpy(gen.integers(1, VOCAB, l))
        docs.append((x, x % ETIQUETAS))
    return docs


class Etiquetador(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 64, padding_idx=0)
        self.rnn = nn.LSTM(64, 96, batch_first=True, bidirectional=True)
        self.salida = nn.Linear(192, ETIQUETAS)

    def forward(self, x):
        h, _ = self.rnn(self.emb(x))
        return self.salida(h)


def main():
    dist.init_process_group("gloo")
    rank, mundo = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(3)
    corpus = cargar_corpus()
    parte = len(corpus) // mundo
    mio = corpus[rank * parte:(rank + 1) * parte]
    print(f"[proceso {rank}/{mundo}] {len(mio)} documentos, pid {os.getpid()}")
    modelo = DDP(Etiquetador())
    opt = torch.optim.Adam(modelo.parameters(), lr=1e-3)
    perdida_fn = nn.CrossEntropyLoss(ignore_index=-100)
    paso, t0 = 0, time.time()
    for epoca in range(1000):
        orden = np.random.default_rng(epoca).permutation(len(mio) // LOTE)
        for k in orden:
            lote = mio[k * LOTE:(k + 1) * LOTE]
            x = pad_sequence([a for a, _ in lote], batch_first=True)
            y = pad_sequence([b for _, b in lote], batch_first=True, padding_value=-100)
            opt.zero_grad()
            perdida = perdida_fn(modelo(x).flatten(0, 1), y.flatten())
            perdida.backward()
            opt.step()
            paso += 1
            if paso % 10 == 0 and rank == 0:
                print(f"época {epoca} paso {paso:5d} pérdida {perdida.item():.4f} "
                      f"({10 / (time.time() - t0):.2f} pasos/s)")
                t0 = time.time()


if __name__ == "__main__":
    main()
