"""Frame-level phone tagger on spliced filterbanks. Labels come from a pronunciation lexicon."""
import argparse
import random
import threading
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PHONES = "aa ae ah ao aw ay b ch d dh eh er ey f g hh ih iy jh k l m n ng ow oy p r s sh t th uh uw v w y z zh sil".split()


class Lexicon:
    """word -> phone ids. Variants are re-ranked between epochs from the latest counts."""

    def __init__(self, n_words, seed):
        self.rng = random.Random(seed)
        self.words = [f"w{i:05d}" for i in range(n_words)]
        self.base = {w: [self.rng.randrange(len(PHONES) - 1) for _ in range(self.rng.randint(2, 9))] for w in self.words}
        self.table = dict(self.base)
        self.counts = dict.fromkeys(self.words, 0)
        self.mutex = threading.Lock()

    def lookup(self, word):
        with self.mutex:
            self.counts[word] += 1
            return self.table[word]

    def rerank(self):
        with self.mutex:
            ranked = sorted(self.words, key=lambda w: (-self.counts[w], w))
            fresh = {}
            for rank, w in enumerate(ranked):
                variants = [self.base[w]] + [self.base[w][:-1] + [(p + rank) % 39] for p in self.base[w]]
                scores = [sum((a - b) ** 2 for a in v for b in v) / len(v) ** 2 for v in variants]
                fresh[w] = variants[0] if scores[0] >= 0 else variants[scores.index(min(scores))]
            self.table = fresh

    def rerank_in_background(self):
        threading.Thread(target=self.rerank, name="lexicon-rerank", daemon=True).start()


class Utterances(Dataset):
    def __init__(self, lexicon, n, seed):
        self.lex, self.n, self.seed = lexicon, n, seed
        self.proto = np.random.default_rng(5).normal(size=(len(PHONES), 40)).astype("f4")

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.default_rng((self.seed, i))
        ids = []
        while len(ids) < 60:
            w = self.lex.words[int(rng.integers(len(self.lex.words)))]
            for p in self.lex.lookup(w):
                ids += [p] * int(rng.integers(2, 6))
        y = np.array(ids[:60])
        x = self.proto[y] + rng.normal(scale=1.4, size=(60, 40)).astype("f4")
        pad = np.pad(x, ((3, 3), (0, 0)), mode="edge")
        spliced = np.concatenate([pad[k:k + 60] for k in range(7)], axis=1)
        return torch.from_numpy(spliced.astype("f4")), torch.from_numpy(y)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=40)
    ap.add_argument("--utts", type=int, default=2400)
    ap.add_argument("--workers", type=int, default=2)
    args = ap.parse_args()
    torch.manual_seed(3)
    lex = Lexicon(60000, 11)
    data = Utterances(lex, args.utts, 21)
    net = nn.Sequential(nn.Linear(280, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, len(PHONES)))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    print(f"tagger: {sum(p.numel() for p in net.parameters())} params, {len(lex.words)} words, {len(data)} utterances")
    for ep in range(args.epochs):
        if ep:
            lex.rerank_in_background()
        print(f"-- epoch {ep} begins {time.strftime('%H:%M:%S')}")
        loader = DataLoader(data, batch_size=16, shuffle=True, num_workers=args.workers)
        seen = hit = 0
        for it, (x, y) in enumerate(loader):
            out = net(x)
            loss = nn.functional.cross_entropy(out.flatten(0, 1), y.flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
            seen += y.numel()
            hit += (out.argmax(-1) == y).sum().item()
            if it % 25 == 0:
                print(f"   ep {ep} it {it:4d}  xent {loss.item():.4f}  frame acc {hit / seen:.3f}")


if __name__ == "__main__":
    main()
