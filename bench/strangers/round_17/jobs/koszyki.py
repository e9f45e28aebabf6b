"""Dział sklepu, z którego będzie następny produkt w koszyku (ignite)."""
import gc
import random
import signal
import time

import torch
from ignite.engine import Engine, Events
from ignite.metrics import RunningAverage
from torch import nn

PRODUKTY = 3000
CZAS = 185
signal.alarm(320)
torch.manual_seed(11)
rng = random.Random(11)


def wczytaj(ile):
    koszyki = []
    for numer in range(ile):
        rodzaj = rng.randrange(30)
        pozycje = [{"produkt": rodzaj * 100 + rng.randrange(100), "sztuk": [rng.randint(1, 4)]} for _ in range(6)]
        koszyki.append({"id": numer, "klient": [numer % 9973], "pozycje": pozycje})
    return koszyki


class Model(nn.Module):
    def __init__(self, wymiar=64):
        super().__init__()
        self.zanurzenie = nn.EmbeddingBag(PRODUKTY, wymiar)
        self.siec = nn.Sequential(nn.Linear(wymiar, 128), nn.ReLU(), nn.Linear(128, 30))

    def forward(self, x):
        return self.siec(self.zanurzenie(x))


koszyki = wczytaj(20_000)
print(f"wczytano {len(koszyki)} koszyków", flush=True)
model = Model()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)


def porcje():
    while True:
        porcja = rng.choices(koszyki, k=64)
        ids = torch.tensor([[p["produkt"] for p in k["pozycje"]] for k in porcja])
        yield ids[:, :-1], ids[:, -1] // 100


def krok(silnik, porcja):
    x, y = porcja
    strata = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    strata.backward()
    opt.step()
    return strata.item()


trener = Engine(krok)
RunningAverage(alpha=0.8, output_transform=lambda s: s).attach(trener, "strata")
poczatek = time.time()


@trener.on(Events.ITERATION_COMPLETED)
def porzadki(silnik):
    gc.collect()


@trener.on(Events.ITERATION_COMPLETED(every=10))
def wypisz(silnik):
    print(f"iteracja={silnik.state.iteration} strata={silnik.state.metrics['strata']:.4f} czas={time.time() - poczatek:.1f}", flush=True)
    if time.time() - poczatek > CZAS:
        silnik.terminate()


trener.run(porcje(), max_epochs=1, epoch_length=1_000_000)
