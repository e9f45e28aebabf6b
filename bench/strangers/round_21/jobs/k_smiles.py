import functools
import logging
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

logging.basicConfig(format="%(asctime)s | %(levelname)-5s | %(message)s", level=logging.INFO)
log = logging.getLogger("solubility")
ALPHABET = "CNOSPFIcnos()[]=#123456+-@HBrl/\\% "
RINGS = ["c1ccccc1", "C1CCCCC1", "c1ccncc1", "C1CCOC1", "c1ccsc1"]
PARTS = ["C", "CC", "O", "N", "C(=O)", "C(=O)O", "S", "CF", "C#N", "C=C", "CCl", "[N+](=O)"]
VALUE = {p: v for p, v in zip(RINGS + PARTS, np.linspace(-1.5, 1.2, 17))}
LENGTH = 96


class Featurizer:
    def __init__(self):
        self.index = {c: i for i, c in enumerate(ALPHABET)}

    @functools.lru_cache(maxsize=None)
    def encode(self, smiles):
        grid = np.zeros((len(ALPHABET), LENGTH), np.float32)
        for at, char in enumerate(smiles[:LENGTH]):
            grid[self.index.get(char, len(ALPHABET) - 1), at] = 1
        return grid


class Molecules:
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.items = []
        for _ in range(n):
            parts = [rng.choice(RINGS if rng.random() < 0.3 else PARTS) for _ in range(rng.randint(6, 14))]
            self.items.append((parts, sum(VALUE[p] for p in parts) / 3))
        self.featurizer = Featurizer()

    def batch(self, size):
        xs, ys = [], []
        for parts, y in random.choices(self.items, k=size):
            order = random.sample(parts, len(parts))  # another writing of the same molecule
            xs.append(self.featurizer.encode("".join(order)))
            ys.append(y)
        return torch.from_numpy(np.stack(xs)), torch.tensor(ys, dtype=torch.float32)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv1d(len(ALPHABET), 64, 5, padding=2)
        self.b = nn.Conv1d(64, 96, 5, padding=2)
        self.c = nn.Conv1d(96, 96, 5, padding=2)
        self.out = nn.Linear(96, 1)

    def forward(self, x):
        x = F.gelu(self.a(x))
        x = F.gelu(self.b(x))
        x = F.gelu(self.c(x)) + x
        return self.out(x.sum(-1) / 20).squeeze(-1)


def main():
    torch.manual_seed(1)
    data = Molecules(20000, 3)
    net = Net()
    opt = torch.optim.AdamW(net.parameters(), 3e-4)
    total = 0.0
    for step in range(1, 9001):
        x, y = data.batch(32)
        loss = F.smooth_l1_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
        if step % 50 == 0:
            log.info("step %5d/9000  huber %.4f", step, total / 50)
            total = 0.0


main()
