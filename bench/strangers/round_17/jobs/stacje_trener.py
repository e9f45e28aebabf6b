import signal
import sys
import time

import torch
from torch import nn

signal.alarm(260)
torch.manual_seed(1)
siec = nn.Sequential(nn.Linear(72, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 1))
opt = torch.optim.Adam(siec.parameters(), lr=1e-3)
okno, paczka, probki, krok = [], [], 0, 0
wszystkie = []
for wiersz in sys.stdin:
    _, _, temp, cisn, wilg = wiersz.split(";")
    okno.append(((float(temp) - 9) / 8, (float(cisn) - 1013) / 6, (float(wilg) - 70) / 14))
    if len(okno) > 30:
        x = torch.tensor(okno[-30:-6]).flatten()
        paczka.append((x, okno[-1][0]))
        wszystkie.append(paczka[-1])
        okno = okno[-30:]
    if len(paczka) == 32:
        x = torch.stack([p[0] for p in paczka])
        y = torch.tensor([[p[1]] for p in paczka])
        strata = nn.functional.smooth_l1_loss(siec(x), y)
        opt.zero_grad()
        strata.backward()
        opt.step()
        paczka = []
        krok += 1
        if krok % 20 == 0:
            print(f"{time.strftime('%H:%M:%S')} krok={krok} strata={strata.item():.4f}", flush=True)
print("strumień przeczytany, dostrajanie na całości", flush=True)
for epoka in range(400):
    for i in range(0, len(wszystkie) - 64, 64):
        x = torch.stack([p[0] for p in wszystkie[i:i + 64]])
        y = torch.tensor([[p[1]] for p in wszystkie[i:i + 64]])
        strata = nn.functional.smooth_l1_loss(siec(x), y)
        opt.zero_grad()
        strata.backward()
        opt.step()
    print(f"{time.strftime('%H:%M:%S')} epoka={epoka} strata={strata.item():.4f}", flush=True)
