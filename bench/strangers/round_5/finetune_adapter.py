"""Adapter fine-tuning of a frozen language model, with linear warm-up."""

import math
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(2)
WARMUP, TOTAL = 500, 20_000


def schedule(step):
    if step < WARMUP:
        return step // WARMUP
    return 0.5 * (1 + math.cos(math.pi * (step - WARMUP) / (TOTAL - WARMUP)))


class Adapted(nn.Module):
    def __init__(self, vocab=400, dim=96):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, 0.0, batch_first=True)
        self.frozen = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        for p in self.parameters():
            p.requires_grad = False
        self.adapter = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, dim))
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        h = self.frozen(self.embed(ids))
        return self.head(h + self.adapter(h))


def main():
    model = Adapted()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-3)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)
    for step in range(1, TOTAL):
        ids = torch.randint(0, 400, (16, 48))
        loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), (ids.flatten() * 3 + 1) % 400)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        time.sleep(0.04)
        if step % 5 == 0:
            lr = scheduler.get_last_lr()[0]
            print(
                f"{{'loss': {loss.item():.4f}, 'learning_rate': {lr:.3e}, 'step': {step}, 'epoch': {step / 1000:.2f}}}",
                flush=True,
            )


if __name__ == "__main__":
    main()
