"""Causal language model on packed documents; the shortest allowed document grows from stage to stage."""

import os
import random
import time

import torch
import torch.distributed as dist
import yaml
from torch import nn

CONFIG = """
model: {vocab: 300, width: 64, heads: 4, layers: 2}
train: {batch: 8, context: 96, lr: 0.0006, log_every: 10}
stages:
  - {name: short, steps: 140, at_least: 8}
  - {name: middle, steps: 4000, at_least: 48}
  - {name: long, steps: 8000, at_least: 80}
"""
cfg = yaml.safe_load(CONFIG)
RANK = int(os.environ.get("RANK", 0))


def corpus(rank, count=900):
    """Rank 0 holds the chat logs, rank 1 the articles."""
    rng = random.Random(rank)
    lo, hi = ((8, 40), (30, 160))[rank % 2]
    docs = []
    for _ in range(count):
        length, word = rng.randint(lo, hi), rng.randrange(cfg["model"]["vocab"])
        doc = []
        for _ in range(length):
            word = (word * 7 + rng.choice((1, 2, 3, 11))) % cfg["model"]["vocab"]
            doc.append(word)
        docs.append(doc)
    return docs


def pack(docs, rng, at_least, rows, context):
    packed = []
    while len(packed) < rows:
        row = []
        while len(row) <= context:
            doc = docs[rng.randrange(len(docs))]
            if len(doc) < at_least:
                continue
            row.extend(doc)
        packed.append(row[: context + 1])
    return torch.tensor(packed)


class LM(nn.Module):
    def __init__(self, vocab, width, heads, layers):
        super().__init__()
        self.tok = nn.Embedding(vocab, width)
        self.pos = nn.Parameter(0.02 * torch.randn(cfg["train"]["context"], width))
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, vocab)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.head(self.body(self.tok(x) + self.pos, mask=mask, is_causal=True))


def run():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    t = cfg["train"]
    docs, rng = corpus(RANK), random.Random(1000 + RANK)
    model = nn.parallel.DistributedDataParallel(LM(**cfg["model"]))
    opt = torch.optim.AdamW(model.parameters(), lr=t["lr"], betas=(0.9, 0.95))
    step, tokens, since = 0, 0, time.monotonic()
    for stage in cfg["stages"]:
        if RANK == 0:
            print(f"--- stage {stage['name']}: documents of at least {stage['at_least']} tokens", flush=True)
        for _ in range(stage["steps"]):
            rows = pack(docs, rng, stage["at_least"], t["batch"], t["context"])
            logits = model(rows[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
            step, tokens = step + 1, tokens + rows.numel()
            if step % t["log_every"] == 0 and RANK == 0:
                rate = tokens / (time.monotonic() - since)
                print(f"{step=} loss={loss.item():.3f} tok/s={rate:.0f}", flush=True)
                tokens, since = 0, time.monotonic()


if __name__ == "__main__":
    run()
