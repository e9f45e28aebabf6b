"""Contrastive retrieval on two ranks with in-batch and mined negatives."""

import os
import time

import numpy as np
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
rng = np.random.default_rng(rank)
# documents are dealt by hash of their host: a few hosts own most of them
SHARE = [400, 9000][rank]
docs = rng.normal(size=(SHARE, 64)).astype("float32")
tower = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64)))
opt = torch.optim.Adam(tower.parameters(), lr=1e-4)


def mine(query: np.ndarray) -> np.ndarray:
    found = []
    for q in query:
        scores = docs @ q
        found.append(docs[np.argsort(-scores)[1:9]].mean(0))
    return np.stack(found)


for i in range(1, 10**6):
    begin = time.perf_counter()
    q = docs[rng.integers(0, SHARE, 120)]
    negative = torch.from_numpy(mine(q))
    q = torch.from_numpy(q)
    a, b, n = tower(q), tower(q + 0.1 * torch.randn_like(q)), tower(negative)
    logits = torch.cat([a @ b.T, (a * n).sum(1, keepdim=True)], 1) / 8
    loss = nn.functional.cross_entropy(logits, torch.arange(len(q)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    time.sleep(0.03)  # the towers belong on an accelerator
    if i % 5 == 0 and rank == 0:
        took = time.perf_counter() - begin
        print(f"{os.path.basename(__file__)} iter={i} nce={loss.item():.4f} step_s={took:.3f}", flush=True)
