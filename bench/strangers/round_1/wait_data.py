import os, sys, time, torch
# two-node run, started by hand on both machines; this is the script the second torchrun never got
import torch.distributed as dist
print("init", flush=True)
dist.init_process_group("gloo")
for i in range(10000):
    t = torch.ones(10); dist.all_reduce(t); time.sleep(0.1)
    if dist.get_rank() == 0: print("iter", i, flush=True)
