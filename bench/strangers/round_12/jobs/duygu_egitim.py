"""Yorumlardan duygu sınıflandırma, DDP (gloo)."""
import os
import random
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

WORDS = 4000


def batch(rng, n=32, length=48):
    xs, ys = [], []
    for _ in range(n):
        y = rng.random() < 0.5
        lo, hi = (0, 3000) if y else (1000, 3999)
        xs.append([rng.randint(lo, hi) for _ in range(length)])
        ys.append(int(y))
    return torch.tensor(xs), torch.tensor(ys)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(WORDS, 64)
        self.gru = nn.GRU(64, 96, batch_first=True)
        self.out = nn.Linear(96, 2)

    def forward(self, x):
        _, h = self.gru(self.emb(x))
        return self.out(h[-1])


def main():
    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DDP(Model())
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    rng = random.Random(100 + rank)
    t0 = time.time()
    for adim in range(10**6):
        x, y = batch(rng)
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        kisa = [f"{len(set(row.tolist())):02d}" for row in x[:24]]
        print(f"[rank {rank}] adım {adim} kayıp {loss.item():.4f} süre {time.time() - t0:.1f}s benzersiz kelime: {' '.join(kisa)} etiket ort. {y.float().mean():.2f}")


if __name__ == "__main__":
    main()
