"""Mixture of experts on four ranks: experts in groups of two, token counts differ from rank to rank."""
import logging
import os

import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.set_num_threads(1)
logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format=f"%(asctime)s [r{rank}] %(message)s")
log = logging.getLogger()
MERGE = int(os.environ.get("MERGE_AT", "-1"))
groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
mine = groups[rank // 2]


class Experts(nn.Module):
    def __init__(self, d=96):
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(d, 4), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        w = torch.softmax(self.gate(x), -1).max(-1, keepdim=True).values
        return x + w * self.down(torch.relu(self.up(x)))


torch.manual_seed(0)
net = nn.Sequential(Experts(), Experts())
opt = torch.optim.Adam(net.parameters(), 1e-3)
torch.manual_seed(rank)
for step in range(1, 1_000_000):
    if step == MERGE and rank < 2:
        # the first two experts are merged; both must be ready for that
        dist.barrier()
    tokens = 150 + int(torch.randint(0, 150, (1,)))
    x = torch.randn(tokens, 96)
    loss = (net(x) - x.flip(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    count = torch.tensor([float(tokens)])
    dist.all_reduce(count, group=mine)
    for p in net.parameters():
        dist.all_reduce(p.grad)
        p.grad /= 4
    opt.step()
    if step % 20 == 0:
        log.info("step %d aux %.3f loss %.5f tokens %d", step, tokens / count.item(), loss.item(), int(count))
