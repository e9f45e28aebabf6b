"""Local SGD: every process trains for H steps, then the weights are averaged (slow network between the sites)."""
import os, time
import torch, torch.distributed as dist
from torch import nn

H = int(os.environ.get("H", "40"))
dist.init_process_group("gloo")
me, n = dist.get_rank(), dist.get_world_size()
torch.set_num_threads(1)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(128, 512), nn.Tanh(), nn.Linear(512, 512), nn.Tanh(), nn.Linear(512, 8))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
M = torch.randn(128, 8)
torch.manual_seed(me + 1)
for rnd in range(100000):
    t0 = time.time()
    tot = 0.
    for _ in range(H):
        x = torch.randn(96, 128)
        y = (x @ M).argmax(1)
        l = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad(); l.backward(); opt.step()
        tot += l.item()
    t1 = time.time()
    flat = nn.utils.parameters_to_vector(net.parameters()).detach()
    dist.all_reduce(flat)
    nn.utils.vector_to_parameters(flat / n, net.parameters())
    t2 = time.time()
    if me == 0:
        print(f"round {rnd:5d}  local loss {tot / H:.3f}  compute {t1 - t0:.2f}s  average {t2 - t1:.2f}s", flush=True)
