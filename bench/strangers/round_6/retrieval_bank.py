"""Contrastive retrieval with a memory bank of earlier keys; duplicates in the bank are not used twice."""

import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(1)
query_net = nn.Sequential(nn.Linear(48, 128), nn.ReLU(), nn.Linear(128, 64))
key_net = nn.Sequential(nn.Linear(48, 128), nn.ReLU(), nn.Linear(128, 64))
opt = torch.optim.Adam([*query_net.parameters(), *key_net.parameters()], 1e-3)
bank: list[torch.Tensor] = []
seen_ids: list[int] = []


def next_pairs(n):
    ids = torch.randint(1 << 30, (n,)).tolist()
    base = torch.randn(n, 48)
    return ids, base + 0.2 * torch.randn(n, 48), base + 0.2 * torch.randn(n, 48)


def add_keys(ids, keys):
    for i, k in zip(ids, keys, strict=True):
        if i not in seen_ids:
            seen_ids.append(i)
            bank.append(k)


def train_step():
    ids, a, b = next_pairs(40)
    q = nn.functional.normalize(query_net(a), dim=1)
    k = nn.functional.normalize(key_net(b), dim=1)
    negatives = torch.stack(bank[-256:]) if bank else k.detach()
    logits = torch.cat([q @ k.T, q @ negatives.T], 1) / 0.1
    loss = nn.functional.cross_entropy(logits, torch.arange(len(ids)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    add_keys(ids, k.detach())
    return loss.item()


if __name__ == "__main__":
    clock = time.perf_counter()
    step = 0
    while step < 100000:
        loss = train_step()
        step += 1
        if step % 10 == 0:
            now = time.perf_counter()
            print(f"step: {step}, loss: {loss:.4f}, bank: {len(bank)}, step_time: {(now - clock) / 10:.4f}", flush=True)
            clock = now
