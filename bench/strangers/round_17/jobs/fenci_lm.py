"""方言语料的小型语言模型。torchrun 两个进程，每个进程读自己的分片；日志写到 logs/rank*.log"""
import logging
import os
import random
import signal
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

SEQ, BATCH, VOCAB = 32, 16, 1600
CACHE_BUDGET = 500_000
LIMIT = 185

signal.alarm(310)
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
Path("logs").mkdir(exist_ok=True)
log = logging.getLogger("lm")
log.setLevel(logging.INFO)
handler = logging.FileHandler(f"logs/rank{rank}.log", encoding="utf-8")
handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
log.addHandler(handler)
if rank == 0:
    log.addHandler(logging.StreamHandler())


def corpus(shard):
    rng = random.Random(shard)
    chars = [chr(0x4E00 + i) for i in range(300)]
    words = ["".join(rng.choices(chars, k=rng.randint(1, 6))) for _ in range(1500)]
    return ["".join(rng.choices(words, k=260)) for _ in range(1200)], words


class Tokenizer:
    """最大概率切分（动态规划）"""

    def __init__(self, words):
        self.ids = {w: 1 + i for i, w in enumerate(sorted(set(words)))}
        self.longest = max(map(len, self.ids))

    def encode(self, text):
        best = [(0.0, 0)] + [(float("inf"), 0)] * len(text)
        for end in range(1, len(text) + 1):
            for length in range(1, self.longest + 1):
                start = end - length
                if start < 0:
                    break
                cost = best[start][0] + (1.0 if text[start:end] in self.ids else 9.0 * length)
                if cost < best[end][0]:
                    best[end] = (cost, start)
        out, end = [], len(text)
        while end:
            start = best[end][1]
            out.append(self.ids.get(text[start:end], 0))
            end = start
        return out[::-1]


def rows(texts, tokenizer):
    out = np.zeros((len(texts), SEQ + 1), dtype=np.int64)
    for row, text in zip(out, texts):
        ids = tokenizer.encode(text)[:SEQ + 1]
        row[:len(ids)] = ids
    return out


class Shard:
    def __init__(self, number):
        self.texts, words = corpus(number)
        self.tokenizer = Tokenizer(words)
        path = Path(f"cache-{number:02d}.npy")
        self.table = np.load(path, mmap_mode="r") if path.exists() else None
        log.info("分片 %d：%d 行，%s", number, len(self.texts), path if self.table is not None else "现场分词")

    def batch(self, rng):
        picks = rng.integers(0, len(self.texts), BATCH)
        if self.table is not None:
            return torch.from_numpy(np.array(self.table[picks]))
        return torch.from_numpy(rows([self.texts[i] for i in picks], self.tokenizer))


class LM(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, VOCAB)

    def forward(self, x):
        return self.out(self.rnn(self.embed(x))[0])


if rank == 0:
    used = 0
    for number in range(world):
        texts, words = corpus(number)
        size = len(texts) * (SEQ + 1) * 8
        if used + size > CACHE_BUDGET:
            break
        np.save(f"cache-{number:02d}.npy", rows(texts, Tokenizer(words)))
        used += size
dist.barrier()
shard = Shard(rank)
torch.manual_seed(1)
model = DDP(LM())
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
rng = np.random.default_rng(rank)
begin = time.time()
step, more = 0, torch.ones(1)
while more.item():
    ids = shard.batch(rng)
    loss = F.cross_entropy(model(ids[:, :-1]).reshape(-1, VOCAB), ids[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    step += 1
    if step % 10 == 0:
        log.info("步 %d 损失 %.4f 用时 %.1fs", step, loss.item(), time.time() - begin)
        more = torch.tensor([float(time.time() - begin < LIMIT)])
        dist.broadcast(more, 0)
dist.destroy_process_group()
