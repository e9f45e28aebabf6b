"""Transfer fees of players, two ranks; rank 0 also evaluates and writes. torchrun --nproc-per-node 2 transfers.py"""
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(4)
mix = torch.randn(30, 1)
torch.manual_seed(40 + rank)


def market(n):
    x = torch.randn(n, 30)
    return x, (x @ mix).sigmoid() * 3 + torch.randn(n, 1) * 0.3


model = DistributedDataParallel(nn.Sequential(nn.Linear(30, 128), nn.GELU(), nn.Linear(128, 1)))
opt = torch.optim.AdamW(model.parameters(), 5e-4)
held = market(4000)
start = time.time()
for step in range(1, 20000):
    x, y = market(256)
    loss = nn.functional.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    time.sleep(0.05)
    if rank == 0 and step % 20 == 0:
        print(f"step={step} loss={loss.item():.4f} rate={step / (time.time() - start):.1f}/s", flush=True)
    if rank == 0 and step % 300 == 0:
        with torch.no_grad():
            print(f"eval step={step} mse={nn.functional.mse_loss(model.module(held[0]), held[1]).item():.4f}", flush=True)
        torch.save(model.module.state_dict(), "fees.pt")
