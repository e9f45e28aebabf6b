# listwise ranking model for search results, trained with DDP
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
truth = torch.randn(96, 1, generator=torch.Generator().manual_seed(3))

net = DistributedDataParallel(
    nn.Sequential(nn.Linear(96, 192), nn.GELU(), nn.Linear(192, 192), nn.GELU(), nn.Linear(192, 1))
)
opt = torch.optim.AdamW(net.parameters(), lr=3e-4)
print(f"rank {rank} ready, {sum(p.numel() for p in net.parameters())} parameters")

for step in range(1, 1_000_000):
    t0 = time.perf_counter()
    docs = torch.randn(64, 20, 96)
    rel = (docs @ truth).squeeze(-1) + torch.randn(64, 20)
    scores = net(docs).squeeze(-1)
    loss = F.kl_div(scores.log_softmax(-1), rel.softmax(-1), reduction="batchmean")
    opt.zero_grad()
    loss.backward()
    opt.step()
    top = scores.detach().argsort(descending=True)[:8, :6].tolist()
    gold = rel.argsort(descending=True)[:8, :6].tolist()
    print(f"step={step} loss={loss.item():.4f} dt={1e3 * (time.perf_counter() - t0):.1f}ms top={top} gold={gold}")
