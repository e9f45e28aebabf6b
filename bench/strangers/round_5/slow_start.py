"""Compiled tagger with a vocabulary counted at the start."""

import collections
import time

import torch
from torch import nn

torch.set_num_threads(1)


def count_vocabulary(lines=160_000):
    print("counting words ...", flush=True)
    counts = collections.Counter()
    gen = torch.Generator().manual_seed(1)
    for _ in range(lines // 1000):
        for line in (torch.randint(0, 3000, (1000, 12), generator=gen)).tolist():
            counts.update(f"w{w}" for w in line)
    return {word: i for i, (word, _) in enumerate(counts.most_common(2500))}


def main():
    began = time.time()
    vocabulary = count_vocabulary()
    print(f"{len(vocabulary)} words after {time.time() - began:.1f} s; compiling", flush=True)
    body = [layer for _ in range(24) for layer in (nn.Linear(128, 128), nn.LayerNorm(128), nn.GELU())]
    model = nn.Sequential(nn.EmbeddingBag(len(vocabulary), 128), *body, nn.Linear(128, 30))
    compiled = torch.compile(model, backend="aot_eager")
    adam = torch.optim.Adam(model.parameters(), lr=5e-4)
    for step in range(1, 1_000_000):
        began = time.time()
        topic = torch.randint(0, 30, (256,))
        ids = torch.randint(0, 110, (256, 12)) + 80 * topic[:, None]
        loss = nn.functional.cross_entropy(compiled(ids), topic)
        adam.zero_grad()
        loss.backward()
        adam.step()
        if step == 1 or step % 20 == 0:
            print(f"step {step} loss {loss.item():.3f} ({1000 * (time.time() - began):.0f} ms)", flush=True)


if __name__ == "__main__":
    main()
