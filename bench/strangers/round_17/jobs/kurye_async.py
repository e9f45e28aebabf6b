"""Kurye rotası için politika gradyanı: asyncio aktörleri yörünge üretir, öğrenici toplu günceller (yalnız numpy)."""
import asyncio
import signal
import time

import numpy as np

signal.alarm(300)
SURE = 185
N = 12


class Politika:
    def __init__(self, rng, gizli=32):
        self.w1 = rng.normal(scale=0.3, size=(4, gizli))
        self.w2 = rng.normal(scale=0.3, size=gizli)

    def puan(self, f):
        h = np.tanh(f @ self.w1)
        return h @ self.w2, h


def ozellik(konum, hedef, bos):
    fark = hedef - konum
    uzak = np.hypot(fark[:, 0], fark[:, 1])
    return np.column_stack([fark, uzak, np.full(len(hedef), bos.mean())])


def gezi(politika, rng, acgozlu=False):
    hedef = rng.uniform(size=(N, 2))
    bos = np.ones(N, bool)
    konum, yol, adimlar = np.array([0.5, 0.5]), 0.0, []
    while bos.any():
        f = ozellik(konum, hedef, bos)
        p, h = politika.puan(f)
        p = np.where(bos, p, -1e9)
        olas = np.exp(p - p.max())
        olas /= olas.sum()
        s = int(olas.argmax()) if acgozlu else int(rng.choice(N, p=olas))
        adimlar.append((f, h, olas, s))
        yol += float(np.hypot(*(hedef[s] - konum)))
        konum = hedef[s]
        bos[s] = False
    return yol, adimlar


async def aktor(no, politika, kuyruk):
    rng = np.random.default_rng(no)
    while True:
        await kuyruk.put(gezi(politika, rng))
        await asyncio.sleep(0)


async def ogrenici(politika, kuyruk):
    basla = time.time()
    ort = None
    guncelleme = 0
    olcum = np.random.default_rng(1000)
    while time.time() - basla < SURE:
        parti = [await kuyruk.get() for _ in range(64)]
        yollar = np.array([y for y, _ in parti])
        ort = yollar.mean() if ort is None else 0.9 * ort + 0.1 * yollar.mean()
        g1, g2 = np.zeros_like(politika.w1), np.zeros_like(politika.w2)
        for yol, adimlar in parti:
            avantaj = ort - yol
            for f, h, olas, s in adimlar:
                d = -olas
                d[s] += 1
                g2 += avantaj * (d @ h)
                g1 += avantaj * (f.T @ (d[:, None] * (1 - h**2) * politika.w2))
        politika.w1 += 0.02 * g1 / len(parti)
        politika.w2 += 0.02 * g2 / len(parti)
        guncelleme += 1
        if guncelleme % 5 == 0:
            print(f"{time.strftime('%H:%M:%S')} güncelleme {guncelleme}: ortalama yol {yollar.mean():.3f} ± {yollar.std():.3f}", flush=True)
        if guncelleme % 100 == 0:
            sonuc = [gezi(politika, olcum, acgozlu=True)[0] for _ in range(400)]
            print(f"{time.strftime('%H:%M:%S')} ölçüm: açgözlü yol {np.mean(sonuc):.3f}", flush=True)


async def main():
    politika = Politika(np.random.default_rng(0))
    kuyruk = asyncio.Queue(maxsize=64)
    aktorler = [asyncio.create_task(aktor(no, politika, kuyruk)) for no in range(16)]
    await ogrenici(politika, kuyruk)
    for a in aktorler:
        a.cancel()


asyncio.run(main())
