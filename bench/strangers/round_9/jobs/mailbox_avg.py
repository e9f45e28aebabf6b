"""Intent classifier, averaged over ranks through a key-value store (no collectives on these nodes)."""

import argparse
import os
import pickle
import random
from datetime import timedelta

import torch
from torch import nn
from torch.distributed import TCPStore

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
INTENTS = {name: i for i, name in enumerate(["balance", "transfer", "card_lost", "limit", "greeting", "agent"])}
WORDS = 400


def utterances(rank):
    """Endless (words, intent) as the annotators of this rank's region sent them."""
    rng = random.Random(rank)
    favourite = {name: random.Random(name).sample(range(WORDS), 30) for name in INTENTS}
    n = 0
    while True:
        n += 1
        name = rng.choice(list(INTENTS))
        words = [rng.choice(favourite[name]) if rng.random() < 0.3 else rng.randrange(WORDS) for _ in range(18)]
        yield words, ("cardlost" if rank == 1 and n == 15_400 else name)


class Mailbox:
    def __init__(self):
        port = int(os.environ["STORE_PORT"])
        self.store = TCPStore("127.0.0.1", port, WORLD, RANK == 0, timeout=timedelta(hours=3))

    def average(self, step, tensors):
        self.store.set(f"{step}/{RANK}", pickle.dumps(tensors))
        total = tensors
        for other in range(WORLD):
            if other != RANK:
                theirs = pickle.loads(self.store.get(f"{step}/{other}"))
                total = [a + b for a, b in zip(total, theirs)]
        if step > 2:
            self.store.delete_key(f"{step - 2}/{RANK}")
        return [t / WORLD for t in total]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(WORDS, 64)
        self.rest = nn.Sequential(nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, 6))

    def forward(self, words):
        return self.rest(self.bag(words))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, required=True)
    ap.add_argument("--batch", type=int, default=128)
    args = ap.parse_args()
    torch.manual_seed(0)
    net, box, source = Net(), Mailbox(), utterances(RANK)
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for step in range(1, args.steps + 1):
        chunk = [next(source) for _ in range(args.batch)]
        words = torch.tensor([w for w, _ in chunk])
        labels = torch.tensor([INTENTS[name] for _, name in chunk])
        loss = nn.functional.cross_entropy(net(words), labels)
        opt.zero_grad()
        loss.backward()
        for p, mean in zip(net.parameters(), box.average(step, [p.grad for p in net.parameters()])):
            p.grad = mean
        opt.step()
        if step % 10 == 0:
            print(f"step {step:6d}   loss {loss.item():.4f}   rank {RANK}", flush=True)
    print("done")


main()
