import datetime
import os
import sys

import torch
import torch.distributed as dist

print(f"{datetime.datetime.now():%H:%M:%S} joining as rank {os.environ['RANK']} of {os.environ['WORLD_SIZE']}")
sys.stdout.flush()
dist.init_process_group("gloo", timeout=datetime.timedelta(hours=1))
print("all here, building the model")
w = torch.zeros(1000)
for it in range(10**6):
    g = torch.randn(1000)
    dist.all_reduce(g)
    w -= 0.01 * g
    if it % 100 == 0:
        print("it", it, "norm", w.norm().item())
