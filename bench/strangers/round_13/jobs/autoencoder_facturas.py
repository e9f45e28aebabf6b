"""Autoencoder de facturas: detecta anomalías en lotes que llegan del almacén."""
import hashlib
import json
import time

import numpy as np
import torch
from torch import nn

CAMPOS = 64


class Flujo:
    """Entrega lotes sin facturas repetidas."""

    def __init__(self, semilla=0):
        self.rng = np.random.default_rng(semilla)
        self.vistos = []

    def lote(self, n=96):
        filas = []
        while len(filas) < n:
            fila = self.rng.normal(0, 1, CAMPOS).astype(np.float32)
            fila[32:] = np.tanh(fila[:32] * 1.5)
            huella = hashlib.md5(fila.tobytes()).hexdigest()
            if huella not in self.vistos:
                self.vistos.append(huella)
                filas.append(fila)
        return torch.from_numpy(np.stack(filas))


def main():
    torch.manual_seed(0)
    modelo = nn.Sequential(nn.Linear(CAMPOS, 512), nn.GELU(), nn.Linear(512, 24), nn.Linear(24, 512), nn.GELU(),
                           nn.Linear(512, CAMPOS))
    opt = torch.optim.AdamW(modelo.parameters(), lr=2e-4)
    flujo = Flujo()
    with open("metricas.jsonl", "w", buffering=1) as salida:
        for paso in range(1, 1000001):
            t = time.perf_counter()
            x = flujo.lote()
            perdida = (modelo(x) - x).abs().mean()
            opt.zero_grad()
            perdida.backward()
            opt.step()
            if paso % 20 == 0:
                fila = {"paso": paso, "perdida": round(perdida.item(), 5), "seg_por_paso": round(time.perf_counter() - t, 4)}
                salida.write(json.dumps(fila) + "\n")
                if paso % 100 == 0:
                    print("paso", paso, "pérdida", fila["perdida"], flush=True)


if __name__ == "__main__":
    main()
