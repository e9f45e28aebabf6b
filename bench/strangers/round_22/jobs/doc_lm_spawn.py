import os
import random
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn

VOCAB = 64
WORLD = 2


def corpus(n=3000, seed=4):
    r = random.Random(seed)
    succ = [[r.randrange(1, VOCAB) for _ in range(3)] for _ in range(VOCAB)]
    docs = []
    for _ in range(n):
        length = max(12, min(400, int(r.lognormvariate(4.2, 0.9))))
        c, doc = r.randrange(1, VOCAB), []
        for _ in range(length):
            doc.append(c)
            c = r.choice(succ[c]) if r.random() < 0.9 else r.randrange(1, VOCAB)
        docs.append(doc)
    return docs


def bucketed(docs):
    # neighbours of similar length: less padding
    return sorted(docs, key=len)


def collate(docs):
    m = max(map(len, docs))
    return torch.tensor([d + [0] * (m - len(d)) for d in docs])


class LM(nn.Module):
    def __init__(self, h=96):
        super().__init__()
        self.e = nn.Embedding(VOCAB, h)
        self.r = nn.GRU(h, h, batch_first=True)
        self.o = nn.Linear(h, VOCAB)

    def forward(self, x):
        return self.o(self.r(self.e(x))[0])


def average(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= WORLD


def work(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(WORLD), LOCAL_RANK=str(rank))
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    docs = bucketed(corpus())
    share = len(docs) // WORLD
    mine = docs[rank * share:(rank + 1) * share]
    batches = [mine[i:i + 16] for i in range(0, share - 15, 16)]
    order = random.Random(rank)
    model = LM()
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    step, mark, seen = 0, time.time(), 0
    while True:
        order.shuffle(batches)
        for docs_ in batches:
            x = collate(docs_)
            loss = nn.functional.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten(), ignore_index=0)
            opt.zero_grad()
            loss.backward()
            average(model)
            opt.step()
            step += 1
            seen += x.numel()
            if step % 20 == 0:
                print(f"r{rank} | {step:5d} | nll {loss.item():.3f} | ppl {loss.exp().item():7.2f} | {seen / (time.time() - mark):7.0f} tok/s", flush=True)
                mark, seen = time.time(), 0


if __name__ == "__main__":
    mp.spawn(work, (23320,), nprocs=WORLD)
