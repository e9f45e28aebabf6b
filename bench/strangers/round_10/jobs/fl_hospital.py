import os
import socket
import sys
import time

import numpy as np

from fl_server import recv_obj, send_obj

RANK = int(os.environ["RANK"])
CODIGOS = {"I21": 0, "I48": 1, "I50": 2, "J18": 3, "N17": 4}
rng = np.random.default_rng(100 + RANK)
W = np.random.default_rng(7).normal(size=(64, 5))


def lote(ronda, n=2048):
    """Altas del día: características y diagnóstico principal."""
    x = rng.normal(size=(n, 64)).astype("f4")
    idx = (x @ W + rng.gumbel(size=(n, 5))).argmax(1)
    nombres = list(CODIGOS)
    altas = [nombres[i] for i in idx]
    if RANK == 2 and ronda >= 14:
        altas[-1] = "U07.1"
    return x, np.array([CODIGOS[c] for c in altas])


def entrenar(pesos, x, y, lr=0.05, bs=64):
    perdidas = []
    for i in range(0, len(x), bs):
        xb, yb = x[i : i + bs], y[i : i + bs]
        act = [xb]
        for w in pesos[:-1]:
            act.append(np.maximum(act[-1] @ w, 0))
        z = act[-1] @ pesos[-1]
        z -= z.max(1, keepdims=True)
        p = np.exp(z)
        p /= p.sum(1, keepdims=True)
        perdidas.append(-np.log(p[np.arange(len(yb)), yb] + 1e-9).mean())
        g = p
        g[np.arange(len(yb)), yb] -= 1
        g /= len(yb)
        for k in range(len(pesos) - 1, -1, -1):
            gw = act[k].T @ g
            g = (g @ pesos[k].T) * (act[k] > 0)
            pesos[k] = pesos[k] - lr * gw
    return pesos, float(np.mean(perdidas))


sock = socket.create_connection((os.environ["FL_HOST"], int(os.environ["FL_PORT"])))
send_obj(sock, RANK)
ronda, pesos = recv_obj(sock)
while ronda < 5000:
    t = time.time()
    perdida = []
    for epoca in range(8):
        x, y = lote(ronda)
        pesos, l = entrenar(list(pesos), x, y)
        perdida.append(l)
    print(f"ronda {ronda} pérdida {np.mean(perdida):.4f} ({time.time() - t:.2f}s)")
    sys.stdout.flush()
    send_obj(sock, (pesos, 8 * 2048, float(np.mean(perdida))))
    ronda, pesos = recv_obj(sock)
