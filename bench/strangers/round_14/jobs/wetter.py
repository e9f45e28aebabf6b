"""Niederschlagsvorhersage; Bewertung läuft in eigenem Prozess (bewerte.py hat anderes Torch)."""
import logging
import subprocess
import sys

import torch

logging.basicConfig(format="%(asctime)s,%(msecs)03d | %(levelname)-7s | %(message)s", datefmt="%d.%m.%Y %H:%M:%S", level=logging.INFO)
BEWERTE = """
import sys, random
n = int(sys.argv[1])
random.seed(n)
s = 0.0
for k in range(n):
    v = random.gauss(0, 1)
    s += v * v
    print(f"station {k:05d} vorhersage {v:+.4f}")
print(f"rmse {(s / n) ** .5:.4f}")
"""
torch.manual_seed(1)
netz = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
opt = torch.optim.Adam(netz.parameters(), 5e-4)
w = torch.randn(64, 1)
for epoche in range(1, 500):
    summe = 0.0
    for schritt in range(1, 601):
        x = torch.randn(128, 64)
        ziel = torch.sin(x @ w / 4) + 0.3 * torch.randn(128, 1)
        fehler = torch.nn.functional.mse_loss(netz(x), ziel)
        opt.zero_grad()
        fehler.backward()
        opt.step()
        summe += fehler.item()
        if schritt % 100 == 0:
            logging.info("Epoche %d Schritt %d Fehler %.4f", epoche, schritt, summe / schritt)
    stationen = 700 * epoche
    logging.info("Epoche %d fertig, bewerte %d Stationen", epoche, stationen)
    kind = subprocess.Popen([sys.executable, "-c", BEWERTE, str(stationen)], stdout=subprocess.PIPE, text=True)
    if kind.wait() != 0:
        raise SystemExit("Bewertung fehlgeschlagen")
    logging.info("Epoche %d %s", epoche, kind.stdout.read().splitlines()[-1])
