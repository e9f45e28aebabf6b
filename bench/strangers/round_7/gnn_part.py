import ctypes
import time, random
import numpy as np, torch, torch.distributed as dist

ctypes.CDLL(None).prctl(1, 9)  # do not outlive the launcher
dist.init_process_group("gloo")
rank = dist.get_rank()
PARTS = {0: 1200, 1: 8000}          # seeds per mini-batch, by partition
random.seed(rank)
adj = [[random.randrange(4000) for _ in range(8)] for _ in range(4000)]
feat = torch.randn(4000, 32)
W = torch.nn.Linear(64, 7)
torch.nn.init.zeros_(W.weight)
opt = torch.optim.Adam(W.parameters(), 5e-3)


def sample(seeds, hops=2, fan=4):
    """k-hop neighbourhood in plain Python"""
    out = []
    for s in seeds:
        front = [s]
        for _ in range(hops):
            front = [random.choice(adj[v]) for v in front for _ in range(fan)]
        out.append(front)
    return out


step = 0
began = time.time()
while step < 6000 and time.time() - began < 600:
    tic = time.time()
    seeds = [random.randrange(4000) for _ in range(PARTS[rank])]
    hood = torch.tensor(sample(seeds))
    x = torch.cat([feat[seeds], feat[hood].mean(1)], 1)
    y = (feat[seeds].sum(1).abs().long() % 7)
    loss = torch.nn.functional.cross_entropy(W(x), y)
    opt.zero_grad()
    loss.backward()
    for p in W.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)
    opt.step()
    step += 1
    if step % 20 == 0:
        print(f"(part {rank}) step {step}: xent {loss.item():.3f} in {time.time()-tic:.3f}s", flush=True)
