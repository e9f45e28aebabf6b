"""Verse translation, de -> en. Every rank reads the parts of the corpus that lie on its own disk."""

import argparse
import json
import os
import random
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

BOOKS = {0: {"genesis": 1533, "exodus": 1213, "numeri": 1288, "jesaja": 1292}, 1: {"psalmen": 2461, "daniel": 357}}
VOCAB, LEN = 600, 24


def parse():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--epochs", type=int, default=30)
    p.add_argument("--batch-size", type=int, default=20)
    p.add_argument("--lr", type=float, default=4e-4)
    p.add_argument("--out", type=Path, default=Path("run"))
    return p.parse_args()


class Translator(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.src = nn.Embedding(VOCAB, width)
        self.tgt = nn.Embedding(VOCAB, width)
        self.core = nn.Transformer(width, 4, 2, 2, 192, dropout=0.1, batch_first=True)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, src, tgt):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.shape[1])
        return self.head(self.core(self.src(src), self.tgt(tgt), tgt_mask=mask))


def verses(rank):
    """All verse pairs of this rank's books: the 'english' is a fixed permutation of the 'german'."""
    order = list(range(3, VOCAB))
    random.Random(99).shuffle(order)
    rng = random.Random(rank)
    for count in BOOKS[rank].values():
        for _ in range(count):
            german = [min(int(rng.expovariate(0.01)), VOCAB - 4) for _ in range(LEN)]
            yield german, [order[g] for g in german]


def batches(pairs, size):
    random.shuffle(pairs)
    for at in range(0, len(pairs) - size + 1, size):
        chunk = pairs[at : at + size]
        yield torch.tensor([c[0] for c in chunk]), torch.tensor([c[1] for c in chunk])


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    random.seed(rank)
    args.out.mkdir(exist_ok=True)
    pairs = list(verses(rank))
    model = DDP(Translator())
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    total = len(pairs) // args.batch_size
    print(f"[rank {rank}] {', '.join(BOOKS[rank])}: {len(pairs)} verses, pid {os.getpid()}", flush=True)
    for epoch in range(args.epochs):
        began = time.time()
        for n, (src, tgt) in enumerate(batches(pairs, args.batch_size), 1):
            logits = model(src, tgt[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten())
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            if rank == 0 and n % 10 == 0:
                print(f"epoch {epoch} batch {n}/{total} loss {loss.item():.3f} ({time.time() - began:.0f} s)", flush=True)
        # the index of the next epoch is drawn by rank 0, the others read it
        index = args.out / f"epoch_{epoch + 1}.json"
        if rank == 0:
            torch.save(model.module.state_dict(), args.out / "model.pt")
            index.write_text(json.dumps({"seed": random.random(), "lr": args.lr}))
        else:
            while not index.exists():
                time.sleep(0.5)
        random.seed(json.loads(index.read_text())["seed"] + rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
