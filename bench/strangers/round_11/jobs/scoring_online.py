"""Douczanie modelu scoringowego na cechach z magazynu cech."""
import asyncio
import logging
import multiprocessing as mp
import socket
import time

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss

PORT = 31107
CECHY = 60


def magazyn():
    async def obsluga(czyt, pis):
        while wiersz := await czyt.readline():
            ziarno, n = map(int, wiersz.split())
            g = np.random.default_rng(ziarno)
            pis.write(g.normal(size=(n, CECHY)).astype("f4").tobytes())
            await pis.drain()
        pis.close()

    async def serwer():
        s = await asyncio.start_server(obsluga, "127.0.0.1", PORT)
        async with s:
            await s.serve_forever()

    asyncio.run(serwer())


class Klient:
    def __init__(self):
        self.polaczenia = {}

    def partia(self, nr, n=512):
        s = socket.create_connection(("127.0.0.1", PORT))
        self.polaczenia[nr] = s
        s.sendall(f"{nr} {n}\n".encode())
        ile, kawalki = n * CECHY * 4, []
        while ile:
            k = s.recv(min(ile, 65536))
            kawalki.append(k)
            ile -= len(k)
        return np.frombuffer(b"".join(kawalki), "f4").reshape(n, CECHY)


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", filename="scoring.log")
    p = mp.Process(target=magazyn, daemon=True)
    p.start()
    time.sleep(2)
    klient = Klient()
    model = SGDClassifier(loss="log_loss", learning_rate="invscaling", eta0=0.05)
    w = np.random.default_rng(1).normal(size=CECHY)
    gen = np.random.default_rng(2)
    for nr in range(1, 100000):
        x = klient.partia(nr)
        y = (x @ w + gen.normal(size=len(x)) * 2 > 0).astype(int)
        for _ in range(60):
            perm = gen.permutation(len(x))
            model.partial_fit(x[perm], y[perm], classes=[0, 1])
        if nr % 5 == 0:
            logging.info("partia %d strata=%.4f", nr, log_loss(y, model.predict_proba(x)))
        if nr % 50 == 0:
            print("partia", nr)
        time.sleep(0.1)


if __name__ == "__main__":
    main()
