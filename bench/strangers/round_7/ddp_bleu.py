"""Translation on two replicas; the first one translates a few samples between the epochs."""
import ctypes
import os, time
import torch, torch.distributed as dist
from torch import nn

ctypes.CDLL(None).prctl(1, 9)  # do not outlive the launcher
dist.init_process_group("gloo")
r = dist.get_rank()
torch.manual_seed(0)
m = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Embedding(400, 48), nn.Linear(48, 400)))
opt = torch.optim.AdamW(m.parameters(), 2e-3)
out = open(f"rank{r}.log", "w", buffering=1)
n = 0
for epoch in range(40):
    for _ in range(80):
        ids = torch.randint(0, 400, (24, 12))
        loss = nn.functional.cross_entropy(m(ids).flatten(0, 1), (ids * 7 % 400).flatten())
        opt.zero_grad(); loss.backward(); opt.step()
        n += 1
        time.sleep(0.08)
        if n % 20 == 0:
            out.write(f"epoch {epoch} step {n} nll {loss.item():.4f}\n")
    if r == 0:
        t = time.time()
        for _ in range(12):
            m.module(torch.randint(0, 400, (1, 12))).argmax(-1)
            time.sleep(0.1)
        out.write(f"samples translated in {time.time() - t:.1f} s\n")
    dist.barrier()
dist.destroy_process_group()
