"""Sequence labelling on clinical notes, with accelerate."""
import logging
import random
import time

import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(levelname)s - %(name)s - %(message)s")
logger = get_logger("tagger")


class Tagger(nn.Module):
    def __init__(self, vocab=2000, tags=9, dim=96):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 256, batch_first=True, dropout=0.1)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(dim, tags)

    def forward(self, ids):
        return self.out(self.enc(self.emb(ids)))


def read_notes(n=6000, seed=3):
    rng = random.Random(seed)
    notes = []
    for _ in range(n):
        length = int(min(400, max(8, rng.lognormvariate(3.6, 1.0))))
        notes.append([rng.randrange(2000) for _ in range(length)])
    # similar lengths next to each other, so that there is little padding
    return sorted(notes, key=len)


def batches(notes, size, seed):
    rng = random.Random(seed)
    order = list(range(0, len(notes) - size, size))
    while True:
        rng.shuffle(order)
        for start in order:
            group = notes[start : start + size]
            width = max(map(len, group))
            ids = torch.tensor([g + [0] * (width - len(g)) for g in group])
            yield ids, ids % 9


def main():
    acc = Accelerator(cpu=True)
    torch.manual_seed(0)
    notes = read_notes()
    share = len(notes) // acc.num_processes
    mine = notes[acc.process_index * share : (acc.process_index + 1) * share]
    model = Tagger()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    model, optimizer = acc.prepare(model, optimizer)
    logger.info(f"{len(notes)} notes, {share} per process")
    start = time.time()
    for step, (ids, tags) in enumerate(batches(mine, 16, acc.process_index), 1):
        loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), tags.flatten())
        acc.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        if step % 10 == 0:
            logger.info(f"step {step} loss {loss.item():.4f} {step / (time.time() - start):.2f} steps/s")
        if step >= 20000:
            break


if __name__ == "__main__":
    main()
