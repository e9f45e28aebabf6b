import sys
import time

import torch
from torch import nn

emb = nn.EmbeddingBag(8000, 32, mode="mean")
head = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam([*emb.parameters(), *head.parameters()], lr=1e-3)
bce = nn.BCEWithLogitsLoss()


def batches(n=64):
    ys, flat, off = [], [], []
    for line in sys.stdin:
        y, ids = line.split("\t")
        ys.append(float(y))
        off.append(len(flat))
        flat.extend(map(int, ids.split()))
        if len(ys) == n:
            yield torch.tensor(ys), torch.tensor(flat), torch.tensor(off)
            ys, flat, off = [], [], []


t, seen = time.time(), 0
for i, (y, ids, off) in enumerate(batches(), 1):
    out = head(emb(ids, off)).squeeze(1)
    loss = bce(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    seen += len(y)
    if i % 20 == 0:
        acc = ((out > 0) == (y > 0.5)).float().mean()
        print(f"batch {i:6d}  loss {loss:.4f}  acc {acc:.3f}  {seen / (time.time() - t):.0f} reviews/s")
        t, seen = time.time(), 0
