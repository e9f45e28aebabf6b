"""Federe öğrenme benzetimi: her turda istemcilerin bir kısmı katılır."""
import multiprocessing as mp
import random
import time

import numpy as np

ISTEMCI, OZELLIK, SINIF = 4, 300, 20


def veri(g, n, kaydirma):
    merkez = np.random.default_rng(0).normal(size=(SINIF, OZELLIK)) * 0.14
    y = g.integers(0, SINIF, n)
    return merkez[y] + g.normal(size=(n, OZELLIK)) + kaydirma, y


def kayip_ve_turev(W, x, y):
    z = x @ W
    z -= z.max(1, keepdims=True)
    p = np.exp(z)
    p /= p.sum(1, keepdims=True)
    k = -np.log(p[np.arange(len(y)), y] + 1e-12).mean()
    p[np.arange(len(y)), y] -= 1
    return k, x.T @ p / len(y)


def istemci(no, hat):
    g = np.random.default_rng(no + 1)
    x, y = veri(g, 3000 + 1500 * no, 0.05 * no)
    while True:
        W = hat.recv()
        if W is None:
            return
        top = 0.0
        for _ in range(3500):
            i = g.integers(0, len(x), 128)
            k, d = kayip_ve_turev(W, x[i], y[i])
            W = W - 0.0006 * d
            top += k
        hat.send((W, top / 3500, len(x)))


def main():
    r = random.Random(5)
    hatlar, surecler = [], []
    for i in range(ISTEMCI):
        biz, onlar = mp.Pipe()
        s = mp.Process(target=istemci, args=(i, onlar), daemon=True)
        s.start()
        hatlar.append(biz)
        surecler.append(s)
    W = np.zeros((OZELLIK, SINIF))
    gx, gy = veri(np.random.default_rng(99), 2000, 0.0)
    for tur in range(1, 2000):
        secim = sorted(r.sample(range(ISTEMCI), r.choice([2, 2, 3])))
        for i in secim:
            hatlar[i].send(W)
        sonuc = [hatlar[i].recv() for i in secim]
        toplam = sum(n for *_, n in sonuc)
        W = sum(w * (n / toplam) for w, _, n in sonuc)
        k, _ = kayip_ve_turev(W, gx, gy)
        dogruluk = float(((gx @ W).argmax(1) == gy).mean())
        print(f"tur {tur} | istemciler {secim} | yerel kayıp {np.mean([k for _, k, _ in sonuc]):.4f} | genel kayıp {k:.4f} | doğruluk {dogruluk:.3f}", flush=True)
        time.sleep(0.7)  # turlar arası bekleme
    for h in hatlar:
        h.send(None)


if __name__ == "__main__":
    main()
