"""Previsión de la demanda eléctrica por horas (regresión con retardos)."""

import csv
import sys
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(11)

RETARDOS = 48
TASA = 0.01725


def datos(n=4000):
    t = torch.arange(n, dtype=torch.float32)
    serie = 2.2 * torch.sin(t * 6.2832 / 24) + 0.8 * torch.sin(t * 6.2832 / 168) + 0.3 * torch.randn(n) + 0.5
    x = serie.unfold(0, RETARDOS, 1)[:-1]
    return x, serie[RETARDOS:]


def main():
    x, y = datos()
    modelo = nn.Linear(RETARDOS, 1)
    nn.init.normal_(modelo.weight, std=0.02)
    optimizador = torch.optim.SGD(modelo.parameters(), lr=TASA)
    salida = csv.writer(sys.stdout)
    salida.writerow(["paso", "perdida", "ritmo", "segundos"])
    inicio = time.time()
    for paso in range(1, 100_000):
        lote = torch.randint(0, len(x), (512,))
        loss = nn.functional.mse_loss(modelo(x[lote]).squeeze(1), y[lote])
        optimizador.zero_grad()
        loss.backward()
        optimizador.step()
        time.sleep(0.12)
        salida.writerow(
            [paso, f"{loss.item():.5f}", f"{optimizador.param_groups[0]['lr']:.5f}", f"{time.time() - inicio:.1f}"]
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
