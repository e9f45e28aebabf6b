"""Zeichenweises Sprachmodell (GRU) fuer das Amtsblatt-Korpus, verteilt mit torchrun."""
import fcntl
import multiprocessing as mp
import os
import random
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

ALPHABET = "abcdefghijklmnopqrstuvwxyzäöüß .,;-0123456789"
LAENGE, STAPEL = 48, 24


def korpus(keim, absaetze):
    zufall = random.Random(keim)
    silben = ["ver", "ord", "nung", "ge", "mein", "de", "amt", "lich", "be", "schluss", "die", "der", " "]
    return ["".join(zufall.choice(silben) for _ in range(60)) for _ in range(absaetze)]


def register_bauen(absaetze, sperre, ausgang):
    """Zaehlt Zeichen je Absatz und reicht die Zahlen an das Training weiter."""
    with open(sperre, "w") as datei:
        fcntl.flock(datei, fcntl.LOCK_EX)
        for nummer, text in enumerate(absaetze):
            ausgang.put((nummer, {z: text.count(z) for z in set(text)}))
        datei.write("fertig\n")


class Modell(nn.Module):
    def __init__(self):
        super().__init__()
        self.einbettung = nn.Embedding(len(ALPHABET), 48)
        self.gru = nn.GRU(48, 128, batch_first=True)
        self.kopf = nn.Linear(128, len(ALPHABET))

    def forward(self, x):
        h, _ = self.gru(self.einbettung(x))
        return self.kopf(h)


def main():
    dist.init_process_group("gloo")
    rang = dist.get_rank()
    torch.manual_seed(rang)
    absaetze = korpus(rang, 180 if rang == 0 else 410)
    zeichen = torch.tensor([ALPHABET.index(z) for z in "".join(absaetze) if z in ALPHABET])
    modell = DDP(Modell())
    optim = torch.optim.AdamW(modell.parameters(), lr=2e-3)
    os.makedirs("register", exist_ok=True)
    zaehler = {}
    for epoche in range(1, 500):
        if rang == 0:
            print(f"--- Epoche {epoche} ---", flush=True)
        beginn, summe = time.time(), 0.0
        for schritt in range(120):
            start = torch.randint(0, len(zeichen) - LAENGE - 1, (STAPEL,))
            x = torch.stack([zeichen[s : s + LAENGE] for s in start])
            y = torch.stack([zeichen[s + 1 : s + LAENGE + 1] for s in start])
            verlust = nn.functional.cross_entropy(modell(x).flatten(0, 1), y.flatten())
            optim.zero_grad()
            verlust.backward()
            optim.step()
            summe += verlust.item()
            if rang == 0 and schritt % 20 == 19:
                print(f"Schritt {schritt + 1:4d}  Verlust {summe / (schritt + 1):.4f}  {(time.time() - beginn):.1f} s")
        if epoche % 3 == 0:
            sperre = f"register/teil{rang}.lock"
            schlange = mp.Queue(maxsize=256)
            helfer = mp.Process(target=register_bauen, args=(absaetze, sperre, schlange), daemon=True)
            helfer.start()
            time.sleep(0.5)
            with open(sperre, "a") as datei:
                fcntl.flock(datei, fcntl.LOCK_EX)
            for _ in absaetze:
                nummer, zahlen = schlange.get()
                zaehler[nummer] = zahlen
            helfer.join()


if __name__ == "__main__":
    main()
