"""Clasificador de tickets de soporte. Lanzar con torchrun."""
import logging
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator
from torch.utils.data import DataLoader, IterableDataset

acc = Accelerator(cpu=True)
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format=f"%(asctime)s proc={acc.process_index} %(message)s")
log = logging.getLogger("tickets")
VOCAB, CLASES, LARGO = 4000, 180, 60


class Tickets(IterableDataset):
    def __init__(self, semilla):
        self.semilla = semilla

    def __iter__(self):
        g = torch.Generator().manual_seed(self.semilla)
        while True:
            y = torch.randint(0, CLASES, (1,), generator=g).item()
            x = torch.randint(0, VOCAB, (LARGO,), generator=g)
            clave = torch.rand(LARGO, generator=g) < 0.15
            x[clave] = (y * 17 + torch.randint(0, 12, (int(clave.sum()),), generator=g)) % VOCAB
            yield x, y


class Modelo(nn.Module):
    def __init__(self, d=160):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d)
        self.rnn = nn.LSTM(d, d, batch_first=True)
        self.cab = nn.Linear(d, CLASES)

    def forward(self, x):
        h, _ = self.rnn(self.emb(x))
        return self.cab(h.mean(1)), h


class Informe:
    """Guarda las salidas para la matriz de confusión del informe."""

    def __init__(self):
        self.filas = []

    def agrega(self, logits, h, y):
        self.filas.append((logits.detach().clone(), h.detach().clone(), y))

    def escribe(self, paso):
        logits = torch.cat([f[0] for f in self.filas])
        y = torch.cat([f[2] for f in self.filas])
        exactitud = (logits.argmax(1) == y).float().mean().item()
        log.info("informe paso=%d n=%d exactitud=%.4f", paso, len(y), exactitud)
        self.filas.clear()


def main():
    torch.manual_seed(3)
    modelo = Modelo()
    opt = torch.optim.Adam(modelo.parameters(), lr=1e-3)
    datos = DataLoader(Tickets(acc.process_index), batch_size=64)
    modelo, opt = acc.prepare(modelo, opt)
    informe = Informe()
    t0 = time.time()
    for paso, (x, y) in enumerate(datos, 1):
        logits, h = modelo(x)
        perdida = F.cross_entropy(logits, y)
        opt.zero_grad()
        acc.backward(perdida)
        opt.step()
        informe.agrega(logits, h[:16], y)
        if paso % 20 == 0:
            if acc.is_main_process:
                informe.escribe(paso)
                log.info("paso=%d perdida=%.4f pasos_por_s=%.2f", paso, perdida.item(), 20 / (time.time() - t0))
            t0 = time.time()


if __name__ == "__main__":
    main()
