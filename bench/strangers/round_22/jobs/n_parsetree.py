"""Sentiment over binary parse trees (recursive cell), two workers over shared memory."""
import os
import random
import sys
import time

import torch
import torch.multiprocessing as mp
from torch import nn

sys.setrecursionlimit(1_000_000)
VOCAB, DIM = 500, 32


class Tree(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM)
        self.mix = nn.Linear(2 * DIM, DIM)
        self.out = nn.Linear(DIM, 2)

    def forward(self, node):
        if isinstance(node, int):
            return self.emb.weight[node]
        left, right = node
        return torch.tanh(self.mix(torch.cat([self(left), self(right)])))


def parse(words, rng):
    """Greedy parser: balanced for sentences, right-branching for what it cannot split (URLs, tables)."""
    if len(words) > 400:
        node = words[-1]
        for w in reversed(words[:-1]):
            node = (w, node)
        return node
    if len(words) == 1:
        return words[0]
    cut = rng.randint(1, len(words) - 1)
    return (parse(words[:cut], rng), parse(words[cut:], rng))


def corpus(rank):
    rng = random.Random(rank)
    for i in range(100000):
        label = rng.randint(0, 1)
        lo = 0 if label else 200
        n = rng.randint(6, 40)
        if rank == 1 and i == 480:
            n = 60000
        yield parse([rng.randint(lo, lo + 299) for _ in range(n)], rng), label


def run(rank, grads, barrier, state):
    os.environ["RANK"] = str(rank)
    os.environ["WORLD_SIZE"] = "2"
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = Tree()
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    params = list(model.parameters())
    loss, n, hit, tic = 0.0, 0, 0, time.time()
    step = 0
    for tree, label in corpus(rank):
        logits = model.out(model(tree))
        term = nn.functional.cross_entropy(logits[None], torch.tensor([label]))
        (term / 8).backward()
        loss, n, hit = loss + term.item(), n + 1, hit + int(logits.argmax().item() == label)
        if n % 8:
            continue
        grads[rank] = torch.cat([p.grad.flatten() for p in params])
        barrier.wait()
        mean, at = grads.mean(0), 0
        barrier.wait()
        for p in params:
            p.grad.copy_(mean[at:at + p.numel()].view_as(p))
            at += p.numel()
        opt.step()
        opt.zero_grad()
        step += 1
        if step % 10 == 0:
            if rank == 0:
                print(f"{time.strftime('%H:%M:%S')} update {step} nll {loss / n:.3f} acc {hit / n:.3f} ({time.time() - tic:.1f} s)", flush=True)
            loss, n, hit, tic = 0.0, 0, 0, time.time()


if __name__ == "__main__":
    size = sum(p.numel() for p in Tree().parameters())
    shared = torch.zeros(2, size).share_memory_()
    ctx = mp.get_context("spawn")
    barrier = ctx.Barrier(2)
    procs = [ctx.Process(target=run, args=(r, shared, barrier, None)) for r in range(2)]
    for p in procs:
        p.start()
    for p in procs:
        p.join()
