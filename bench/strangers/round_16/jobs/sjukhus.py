"""Federerad träning: en server, två sjukhus. Ny omgång var femte sekund (överenskommet tempo)."""
import logging
import subprocess
import sys
import time
from multiprocessing.connection import Client, Listener

import numpy as np

ADRESS = ("127.0.0.1", 31520)
NYCKEL = b"demo"
OMGANG_S = 5.0
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")


def data(frö, n=20000):
    rng = np.random.default_rng(frö)
    sann = np.random.default_rng(1).normal(size=60)
    x = rng.normal(size=(n, 60)) + 0.2 * frö
    y = (x @ sann * 0.4 + rng.normal(size=n) > 0).astype(float)
    return x, y


def förlust(w, x, y):
    p = np.clip(1 / (1 + np.exp(-(np.tanh(x @ w["a"]) @ w["b"]))), 1e-7, 1 - 1e-7)
    return float(-(y * np.log(p) + (1 - y) * np.log(1 - p)).mean())


def lokalt(w, x, y, rng, steg=8000):
    for _ in range(steg):
        i = rng.integers(0, len(x), 64)
        h = np.tanh(x[i] @ w["a"])
        p = 1 / (1 + np.exp(-(h @ w["b"])))
        d = (p - y[i]) / len(i)
        gb = h.T @ d
        ga = x[i].T @ (np.outer(d, w["b"]) * (1 - h**2))
        w = {"a": w["a"] - 0.0002 * ga, "b": w["b"] - 0.0002 * gb}
    return w


def sjukhus(nummer):
    x, y = data(nummer)
    rng = np.random.default_rng(50 + nummer)
    förbindelse = Client(ADRESS, authkey=NYCKEL)
    förbindelse.send(nummer)
    while True:
        w = förbindelse.recv()
        w = lokalt(w, x, y, rng)
        förbindelse.send((w, förlust(w, x, y)))


def server():
    lyssnare = Listener(ADRESS, authkey=NYCKEL)
    barn = [subprocess.Popen([sys.executable, __file__, str(i)]) for i in (1, 2)]
    platser = {}
    for _ in barn:
        f = lyssnare.accept()
        platser[f.recv()] = f
    rng = np.random.default_rng(0)
    w = {"a": rng.normal(size=(60, 96)) * 0.1, "b": rng.normal(size=96) * 0.1}
    tx, ty = data(0, 2000)
    for omgång in range(1, 400):
        start = time.monotonic()
        for f in platser.values():
            f.send(w)
        svar = {n: f.recv() for n, f in platser.items()}
        w = {k: np.mean([s[0][k] for s in svar.values()], axis=0) for k in w}
        logging.info("omgång %d loss %.4f lokalt %s tid %.2f s", omgång, förlust(w, tx, ty), {n: round(s[1], 4) for n, s in svar.items()}, time.monotonic() - start)
        time.sleep(max(0.0, OMGANG_S - (time.monotonic() - start)))


if __name__ == "__main__":
    sjukhus(int(sys.argv[1])) if len(sys.argv) > 1 else server()
