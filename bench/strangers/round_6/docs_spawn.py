"""Long-document classifier started with mp.spawn; documents are split among the ranks by id range."""

import os
import random
import socket
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

WORLD = 3


def make_corpus(kind):
    rng = random.Random(5)
    docs = [[rng.randrange(5000) for _ in range(rng.randint(20, 60))] for _ in range(900)]
    if kind == "archive":
        for n in range(300, 600):
            docs[n] = docs[n] * 14
    return docs


class DocNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(5000, 48)
        self.rnn = nn.GRU(48, 64, batch_first=True)
        self.out = nn.Linear(64, 4)

    def forward(self, x):
        return self.out(self.rnn(self.words(x))[1][-1])


def collate(docs):
    longest = max(len(d) for d in docs)
    x = torch.zeros(len(docs), longest, dtype=torch.long)
    for n, d in enumerate(docs):
        x[n, : len(d)] = torch.tensor(d)
    return x, torch.tensor([d[0] % 4 for d in docs])


def run(rank, port, kind):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(WORLD))
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)
    mine = make_corpus(kind)[rank * 300 : (rank + 1) * 300]
    model = DistributedDataParallel(DocNet())
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    rng = random.Random(rank)
    begun = time.perf_counter()
    for step in range(1, 1_000_000):
        x, y = collate(rng.sample(mine, 8))
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.05)
        if rank == 0 and step % 10 == 0:
            per = (time.perf_counter() - begun) / step
            print(f"Step {step} | loss {loss.item():.4f} | {per * 1000:.0f} ms/step", flush=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


if __name__ == "__main__":
    mp.spawn(run, args=(free_port(), os.environ.get("CORPUS", "news")), nprocs=WORLD)
