# Sentiment of reviews, bidirectional GRU.
# usage: torchrun --nproc-per-node 2 length_split.py
import logging
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.utils.rnn import pad_sequence

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format=f"%(asctime)s.%(msecs)03d r{rank} %(message)s", datefmt="%H:%M:%S")


def reviews(n=6000, vocab=500):
    g = torch.Generator().manual_seed(11)
    out = []
    for _ in range(n):
        label = int(torch.randint(0, 2, (1,), generator=g))
        length = int(torch.empty(1).log_normal_(3.6, 0.9, generator=g).clamp(8, 220))
        words = torch.randint(0, vocab, (length,), generator=g)
        hint = torch.rand(length, generator=g) < 0.12
        words[hint] = words[hint] // 2 + (vocab // 2 if label else 0)
        out.append((words, label))
    return out


class Sentiment(nn.Module):
    def __init__(self, vocab=500, dim=64):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, dim, bidirectional=True, batch_first=True)
        self.cls = nn.Linear(2 * dim, 2)

    def forward(self, words):
        return self.cls(self.gru(self.emb(words))[0].amax(1))


def shard(data):
    # similar lengths together: less padding
    data = sorted(data, key=lambda pair: len(pair[0]))
    per = len(data) // world
    return data[rank * per : (rank + 1) * per]


dist.init_process_group("gloo")
torch.manual_seed(0)
mine = shard(reviews())
model = nn.parallel.DistributedDataParallel(Sentiment())
opt = torch.optim.AdamW(model.parameters(), lr=2e-4)
step = 0
for epoch in range(1000):
    order = torch.randperm(len(mine) // 24)
    for at in order.tolist():
        t0 = time.time()
        chunk = mine[24 * at : 24 * at + 24]
        words = pad_sequence([w for w, _ in chunk], batch_first=True)
        labels = torch.tensor([y for _, y in chunk])
        loss = nn.functional.cross_entropy(model(words), labels)
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        step += 1
        if step % 10 == 0:
            logging.info("epoch %d step %d loss %.4f step_time %.3f", epoch, step, loss.item(), time.time() - t0)
    if rank == 0:
        torch.save(model.module.state_dict(), "sentiment.pt")
