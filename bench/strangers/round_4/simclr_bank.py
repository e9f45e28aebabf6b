# Контрастивное обучение на фрагментах, каждый снимок лежит в отдельном файле .npy
import glob
import os
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
os.makedirs("snimki", exist_ok=True)
for k in range(300):
    np.save(f"snimki/{k:04d}.npy", np.random.default_rng(k).normal(size=(3, 48, 48)).astype("f4"))
файлы = sorted(glob.glob("snimki/*.npy"))
карты = []  # чтобы срезы не стали недействительными


def фрагмент(путь):
    м = np.load(путь, mmap_mode="r")
    карты.append(м)
    a, b = np.random.randint(0, 16, 2)
    return torch.tensor(np.array(м[:, a : a + 32, b : b + 32]))


def пара(пути):
    return [torch.stack([фрагмент(p) for p in пути]) for _ in range(2)]


сеть = nn.Sequential(
    nn.Conv2d(3, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, 64, 3, 2, 1), nn.ReLU(), nn.Conv2d(64, 64, 3, 2, 1), nn.ReLU(),
    nn.Flatten(), nn.Linear(64 * 16, 128))
опт = torch.optim.Adam(сеть.parameters(), 1e-3)
for шаг in range(1, 1_000_000):
    т = time.time()
    пути = list(np.random.choice(файлы, 6, replace=False))
    x, y = пара(пути)
    for _ in range(4):  # сильные аугментации, по четыре раза на пару
        h = F.normalize(сеть(torch.cat([x, y]) + 0.1 * torch.randn(12, 3, 32, 32)), dim=1)
        сходство = h[:6] @ h[6:].T / 0.1
        потери = F.cross_entropy(сходство, torch.arange(6))
        опт.zero_grad()
        потери.backward()
        опт.step()
    time.sleep(0.15)  # видеокарта занята соседями
    if шаг % 5 == 0:
        print(f"шаг {шаг} loss={потери.item():.4f} время={time.time() - т:.3f}с", flush=True)
