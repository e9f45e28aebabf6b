"""Token tagging on several processes, started by torchrun."""

import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

BATCH = 16
LABELS = 9


def sentences(n):
    gen = torch.Generator().manual_seed(7)
    tokens = torch.randint(1, 5000, (n, 48), generator=gen)
    return tokens, tokens % LABELS


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5000, 96)
        self.lstm = nn.LSTM(96, 96, bidirectional=True, batch_first=True)
        self.head = nn.Linear(192, LABELS)

    def forward(self, tokens):
        return self.head(self.lstm(self.embed(tokens))[0])


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    tokens, labels = sentences(1281)
    # Give the rest of the division to the first ranks, so that no sentence is lost.
    tokens, labels = tokens[rank::world], labels[rank::world]
    model = DistributedDataParallel(Tagger())
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(200):
        began = time.time()
        correct = torch.zeros(2)
        for step, start in enumerate(range(0, len(tokens), BATCH)):
            x, y = tokens[start : start + BATCH], labels[start : start + BATCH]
            logits = model(x)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            correct += torch.tensor([(logits.argmax(-1) == y).sum().item(), y.numel()])
            if rank == 0 and step % 20 == 0:
                print(f"[epoch {epoch}] [{step}/{len(tokens) // BATCH}] loss={loss.item():.4f}", flush=True)
        scores = [None] * world
        dist.all_gather_object(scores, {"rank": int(os.environ["RANK"]), "accuracy": (correct[0] / correct[1]).item()})
        if rank == 0:
            mean = sum(s["accuracy"] for s in scores) / world
            print(f"epoch {epoch} done in {time.time() - began:.1f} s, token accuracy {mean:.3f}", flush=True)


if __name__ == "__main__":
    main()
