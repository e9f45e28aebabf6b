"""Builds a byte pair vocabulary from scratch (takes some minutes), then trains a small model on it."""

import collections
import random
import sys
import time

import torch
from torch import nn
from tqdm import tqdm


def book(words=45_000, seed=3):
    rng = random.Random(seed)
    stems = ["".join(rng.choice("aeioustnrlmdkpbgfvhz") for _ in range(rng.randint(3, 8))) for _ in range(6000)]
    ends = ["", "en", "er", "ung", "lich", "keit", "s", "test"]
    return [rng.choice(stems) + rng.choice(ends) + rng.choice(ends) for _ in range(words)]


def most_frequent_pair(spellings, counts):
    pairs = collections.Counter()
    for word, parts in spellings.items():
        for pair in zip(parts, parts[1:]):
            pairs[pair] += counts[word]
    return pairs.most_common(1)[0][0]


def merge(parts, pair):
    out, i = [], 0
    while i < len(parts):
        if i + 1 < len(parts) and (parts[i], parts[i + 1]) == pair:
            out.append(parts[i] + parts[i + 1])
            i += 2
        else:
            out.append(parts[i])
            i += 1
    return out


def learn_merges(words, merges):
    counts = collections.Counter(words)
    spellings = {word: list(word) + ["_"] for word in counts}
    learnt = []
    for _ in tqdm(range(merges), desc="BPE merges", file=sys.stderr, mininterval=0.5):
        pair = most_frequent_pair(spellings, counts)
        learnt.append(pair)
        spellings = {word: merge(parts, pair) if pair[0] in parts else parts for word, parts in spellings.items()}
    return learnt, spellings


def main():
    words = book()
    merges, spellings = learn_merges(words, 600)
    pieces = {p: i for i, p in enumerate(sorted({p for parts in spellings.values() for p in parts}))}
    ids = torch.tensor([pieces[p] for word in words for p in spellings[word]])
    print(f"{len(merges)} merges, {len(pieces)} pieces, {len(ids)} tokens", flush=True)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(len(pieces), 128), nn.Flatten(), nn.Linear(8 * 128, 512), nn.ReLU(), nn.Linear(512, len(pieces)))
    opt = torch.optim.Adam(model.parameters(), lr=2e-4)
    bar = tqdm(range(50_000), desc="train", mininterval=1.0)
    for _ in bar:
        at = torch.randint(0, len(ids) - 9, (128,)).unsqueeze(1) + torch.arange(9)
        window = ids[at]
        loss = nn.functional.cross_entropy(model(window[:, :8]), window[:, 8])
        opt.zero_grad()
        loss.backward()
        opt.step()
        bar.set_postfix(loss=f"{loss.item():.3f}")
    torch.save((merges, model.state_dict()), time.strftime("bpe_%H%M.pt"))


if __name__ == "__main__":
    main()
