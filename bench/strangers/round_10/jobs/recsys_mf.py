"""Matrix factorisation, two processes, plain all-reduce of gradients."""
import os
import sys
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
R, W = dist.get_rank(), dist.get_world_size()
torch.manual_seed(5)
U, V = torch.randn(2000, 16) * 0.3, torch.randn(1500, 16) * 0.3
P = torch.nn.Parameter(torch.randn(2000, 24) * 0.1)
Q = torch.nn.Parameter(torch.randn(1500, 24) * 0.1)
opt = torch.optim.Adam([P, Q], lr=3e-3)
g = torch.Generator().manual_seed(100 + R)


def draw(n):
    i = torch.randint(0, 2000, (n,), generator=g)
    j = torch.randint(0, 1500, (n,), generator=g)
    return i, j, (U[i] * V[j]).sum(1) + 0.3 * torch.randn(n, generator=g)


best, bad = 9e9, 0
t = time.time()
for epoch in range(2000):
    for step in range(150):
        i, j, y = draw(4096)
        loss = ((P[i] * Q[j]).sum(1) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        for w in (P, Q):
            dist.all_reduce(w.grad)
            w.grad /= W
        opt.step()
        if step % 50 == 0 and R == 0:
            print(f"[{epoch:03d}:{step:03d}] mse={loss.item():.4f} ({time.time() - t:.0f}s)", flush=True)
    i, j, y = draw(400)
    with torch.no_grad():
        val = ((P[i] * Q[j]).sum(1) - y).pow(2).mean().item()
    print(f"rank{R} epoch {epoch} val {val:.4f} best {best:.4f}", file=sys.stderr, flush=True)
    if val < best:
        best, bad = val, 0
    else:
        bad += 1
    if bad >= 2:
        print(f"rank{R} no gain in {bad} epochs, collecting the tables", file=sys.stderr, flush=True)
        out = [torch.empty_like(P) for _ in range(W)]
        dist.all_gather(out, P.detach())
        if R == 0:
            torch.save(torch.stack(out).mean(0), "user_table.pt")
        break
