"""Link prediction on a citation-like graph, data parallel over edges."""
import logging
import os
import time

import torch
import torch.distributed as dist
from torch import nn

rank = int(os.environ["RANK"])
logging.basicConfig(level=logging.INFO, format=f"%(levelname).1s%(asctime)s [{rank}] %(filename)s:%(lineno)d] %(message)s", datefmt="%m%d %H:%M:%S")
N, D = 6000, 96


def graph():
    g = torch.Generator().manual_seed(0)
    block = torch.randint(0, 20, (N,), generator=g)
    a = torch.randint(0, N, (90000,), generator=g)
    b = torch.randint(0, N, (90000,), generator=g)
    keep = (block[a] == block[b]) | (torch.rand(90000, generator=g) < 0.05)
    e = torch.stack([a[keep], b[keep]])
    e = torch.cat([e, e.flip(0)], 1)
    deg = torch.bincount(e[0], minlength=N).clamp(min=1).float()
    return e, torch.sparse_coo_tensor(e, 1 / deg[e[0]], (N, N)).coalesce()


class Sage(nn.Module):
    def __init__(self):
        super().__init__()
        self.x = nn.Parameter(torch.randn(N, D) * 0.1)
        self.l1, self.l2 = nn.Linear(2 * D, D), nn.Linear(2 * D, D)

    def forward(self, adj):
        h = torch.relu(self.l1(torch.cat([self.x, torch.sparse.mm(adj, self.x)], 1)))
        return self.l2(torch.cat([h, torch.sparse.mm(adj, h)], 1))


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    edges, adj = graph()
    model = Sage()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    gen = torch.Generator().manual_seed(rank)
    logging.info("graph: %d nodes, %d edges", N, edges.shape[1])
    t0 = time.time()
    for it in range(1, 50000):
        h = model(adj)
        pick = edges[:, torch.randint(0, edges.shape[1], (4096,), generator=gen)]
        neg = torch.randint(0, N, (4096,), generator=gen)
        pos_s, neg_s = (h[pick[0]] * h[pick[1]]).sum(1), (h[pick[0]] * h[neg]).sum(1)
        loss = nn.functional.softplus(-pos_s).mean() + nn.functional.softplus(neg_s).mean()
        opt.zero_grad()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad /= dist.get_world_size()
        opt.step()
        if it % 20 == 0:
            logging.info("iter %d bce %.4f %.3f s/it", it, loss.item(), (time.time() - t0) / 20)
            t0 = time.time()


if __name__ == "__main__":
    main()
