"""Clasificador de reseñas: una fuente de texto por proceso, gradientes promediados con DDP."""
import logging
import os
import random
import re
import time
import zlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

FUENTES = ("tienda", "foro")
PALABRAS_POR_TEXTO = {"tienda": 60, "foro": 2600}
VOCABULARIO = 20_000
LOTE = 48
SEPARADOR = re.compile(r"[^\w]+", re.UNICODE)

registro = logging.getLogger("resenas")


def leer(fuente, semilla):
    azar = random.Random(semilla)
    buenas = [f"bueno{i}" for i in range(150)]
    malas = [f"malo{i}" for i in range(150)]
    comunes = [f"palabra{i}" for i in range(9000)]
    textos = []
    for _ in range(320):
        etiqueta = azar.random() < 0.5
        n = max(8, int(azar.gauss(PALABRAS_POR_TEXTO[fuente], PALABRAS_POR_TEXTO[fuente] / 8)))
        palabras = azar.choices(comunes, k=n) + azar.choices(buenas if etiqueta else malas, k=max(3, n // 10))
        azar.shuffle(palabras)
        textos.append((", ".join(palabras), float(etiqueta)))
    return textos


def a_indices(texto):
    trozos = [t for t in SEPARADOR.split(texto.lower()) if t]
    ids = [zlib.crc32(t.encode()) % VOCABULARIO for t in trozos]
    ids += [zlib.crc32(f"{a}_{b}".encode()) % VOCABULARIO for a, b in zip(trozos, trozos[1:])]
    return ids


class Modelo(nn.Module):
    def __init__(self):
        super().__init__()
        self.bolsa = nn.EmbeddingBag(VOCABULARIO, 16, mode="mean")
        self.capas = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, ids, inicios):
        return self.capas(self.bolsa(ids, inicios)).squeeze(1)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [proceso {rank}] %(levelname)s %(message)s")
    fuente = FUENTES[rank % len(FUENTES)]
    textos = leer(fuente, rank)
    registro.info("fuente %s: %d textos", fuente, len(textos))
    torch.manual_seed(0)
    modelo = DDP(Modelo())
    optimizador = torch.optim.Adam(modelo.parameters(), lr=5e-4)
    azar = random.Random(10 + rank)
    inicio = time.time()
    for paso in range(1, 100_000):
        lote = azar.sample(textos, LOTE)
        ids, inicios = [], []
        for texto, _ in lote:
            inicios.append(len(ids))
            ids.extend(a_indices(texto))
        salida = modelo(torch.tensor(ids), torch.tensor(inicios))
        perdida = nn.functional.binary_cross_entropy_with_logits(salida, torch.tensor([e for _, e in lote]))
        optimizador.zero_grad()
        perdida.backward()
        optimizador.step()
        if paso % 10 == 0 and rank == 0:
            registro.info("paso %d perdida=%.4f textos/s=%.1f", paso, perdida.item(), paso * LOTE * dist.get_world_size() / (time.time() - inicio))


if __name__ == "__main__":
    main()
