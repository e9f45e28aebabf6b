"""Interaction prediction on protein graphs, data parallel over subgraph batches (torchrun)."""
import ctypes
import signal
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv


class Encoder(torch.nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a, self.b = GCNConv(d, 64), GCNConv(64, 32)

    def forward(self, x, e):
        return self.b(torch.relu(self.a(x, e)), e)


def subgraphs(count, rank, gen):
    out = []
    for i in range(count):
        n = 300
        x = torch.randn(n, 24, generator=gen)
        e = torch.randint(0, n, (2, 1500), generator=gen)
        confidence = torch.rand(1500, generator=gen) * (0.6 if (i * 2 + rank) == 131 else 1.0)
        out.append(Data(x=x, edge_index=e, score=confidence))
    return out


def sync(params, world):
    flat = torch.cat([p.grad.reshape(-1) for p in params])
    dist.all_reduce(flat)
    flat /= world
    o = 0
    for p in params:
        p.grad.copy_(flat[o:o + p.numel()].view_as(p))
        o += p.numel()


def main():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # end with the launcher
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = Encoder(24)
    params = list(model.parameters())
    opt = torch.optim.Adam(params, 2e-3)
    gen = torch.Generator().manual_seed(10 + rank)
    for epoch in range(1, 400):
        data = subgraphs(20 if epoch < 4 else 80, rank, gen)
        tic, total, seen = time.time(), 0.0, 0
        for i, g in enumerate(data):
            pos = g.edge_index[:, g.score > 0.7]
            if pos.shape[1] == 0:
                continue
            z = model(g.x, g.edge_index)
            neg = torch.randint(0, 300, pos.shape, generator=gen)
            logit = torch.cat([(z[pos[0]] * z[pos[1]]).sum(1), (z[neg[0]] * z[neg[1]]).sum(1)])
            y = torch.cat([torch.ones(pos.shape[1]), torch.zeros(neg.shape[1])])
            loss = F.binary_cross_entropy_with_logits(logit, y)
            opt.zero_grad()
            loss.backward()
            sync(params, world)
            opt.step()
            total, seen = total + loss.item(), seen + 1
            if rank == 0 and i % 10 == 0:
                print(f"epoch {epoch:3d} | graph {i:3d}/{len(data)} | bce {loss.item():.4f}", flush=True)
        parts = [torch.zeros(2) for _ in range(world)]
        dist.all_gather(parts, torch.tensor([total, float(seen)]))
        s = torch.stack(parts).sum(0)
        if rank == 0:
            print(f"== epoch {epoch} mean bce {s[0] / s[1]:.4f} over {int(s[1])} graphs, {time.time() - tic:.1f}s", flush=True)
    dist.destroy_process_group()


main()
