"""DQN pequeno: una serpiente busca comida; la memoria de repeticion tiene un tope."""
import random
from collections import deque
import numpy as np
import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)
N, TOPE = 8, 20000
mS, mS2 = (np.empty((TOPE, 6, 2, N, N), np.float32) for _ in range(2))
mA, mR, mF = np.empty(TOPE, np.int64), np.empty(TOPE, np.float32), np.empty(TOPE, np.float32)
red = nn.Sequential(nn.Flatten(), nn.Linear(2 * 6 * N * N, 128), nn.ReLU(), nn.Linear(128, 4))
fija = nn.Sequential(nn.Flatten(), nn.Linear(2 * 6 * N * N, 128), nn.ReLU(), nn.Linear(128, 4))
fija.load_state_dict(red.state_dict())
opt = torch.optim.Adam(red.parameters(), 5e-4)
D = [(0, 1), (1, 0), (0, -1), (-1, 0)]
cuadros = deque(maxlen=6)


def ver(yo, comida):
    c = np.zeros((2, N, N), np.float32)
    c[0][yo] = 1
    c[1][comida] = 1
    cuadros.append(c)
    while len(cuadros) < 6:
        cuadros.append(c)
    return np.stack(cuadros)


pasos = 0
for episodio in range(1, 1000000):
    cuadros.clear()
    yo, comida, total = (4, 4), (random.randrange(N), random.randrange(N)), 0.0
    s = ver(yo, comida)
    eps = max(0.1, 1 - pasos / 15000)
    for _ in range(60):
        a = random.randrange(4) if random.random() < eps else int(red(torch.from_numpy(s)[None]).argmax())
        otro = (yo[0] + D[a][0], yo[1] + D[a][1])
        fin = not (0 <= otro[0] < N and 0 <= otro[1] < N)
        r = -1.0 if fin else -0.01
        if not fin:
            yo = otro
            if yo == comida:
                r, comida = 1.0, (random.randrange(N), random.randrange(N))
        s2 = s if fin else ver(yo, comida)
        k = pasos % TOPE
        mS[k], mA[k], mR[k], mS2[k], mF[k] = s, a, r, s2, fin
        s, total, pasos = s2, total + r, pasos + 1
        if pasos % 4 == 0 and pasos > 500:
            b = np.random.randint(0, min(pasos, TOPE), 64)
            S, S2, A, R, F = (torch.from_numpy(m[b]) for m in (mS, mS2, mA, mR, mF))
            with torch.no_grad():
                meta = R + 0.95 * (1 - F) * fija(S2).max(1).values
            perdida = nn.functional.smooth_l1_loss(red(S).gather(1, A[:, None])[:, 0], meta)
            opt.zero_grad()
            perdida.backward()
            opt.step()
        if pasos % 1000 == 0:
            fija.load_state_dict(red.state_dict())
        if fin:
            break
    if episodio % 40 == 0 and pasos > 500:
        print(f"episodio {episodio:6d}  retorno {total:6.2f}  perdida {perdida.item():.4f}  eps {eps:.2f}  memoria {min(pasos, TOPE)}/{TOPE} (tope)")
