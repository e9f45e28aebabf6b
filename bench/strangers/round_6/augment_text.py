"""Typo-robust intent classifier: every sample is noised and turned into n-gram counts when it is read."""

import random
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

VOCABULARY = "please book cancel flight hotel train ticket to from paris rome oslo tomorrow today refund seat change"
WORDS = VOCABULARY.split(" ")
BUCKETS = 4096


class Utterances(Dataset):
    def __init__(self, size=20000):
        rng = random.Random(1)
        self.texts = [" ".join(rng.choices(WORDS, k=rng.randint(20, 40))) for _ in range(size)]

    def __len__(self):
        return len(self.texts)

    def corrupt(self, text):
        chars = list(text)
        for _ in range(len(chars) // 8):
            i = random.randrange(len(chars) - 1)
            chars[i], chars[i + 1] = chars[i + 1], chars[i]
        return "".join(chars)

    def ngrams(self, text):
        counts = [0.0] * BUCKETS
        for n in (1, 2, 3, 4, 5):
            for i in range(len(text) - n + 1):
                h = 2166136261
                for c in text[i : i + n]:
                    h = (h ^ ord(c)) * 16777619 & 0xFFFFFFFF
                counts[h % BUCKETS] += 1.0
        return counts

    def __getitem__(self, i):
        text = self.texts[i]
        return torch.tensor(self.ngrams(self.corrupt(text))), int("refund" in text)


def main():
    torch.set_num_threads(1)
    loader = DataLoader(Utterances(), batch_size=64, shuffle=True)
    net = nn.Sequential(nn.Linear(BUCKETS, 64), nn.ReLU(), nn.Linear(64, 2))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    seen = 0
    for epoch in range(100):
        tick = time.time()
        for i, (x, y) in enumerate(loader):
            loss = nn.functional.cross_entropy(net(x.log1p()), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            seen += len(y)
            if i % 5 == 0:
                print(f"epoch={epoch} i={i} loss={loss.item():.3f} seen={seen} t={time.time() - tick:.1f}s", flush=True)


if __name__ == "__main__":
    main()
