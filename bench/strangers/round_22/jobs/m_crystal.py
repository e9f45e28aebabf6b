import os
import numpy as np
import torch
import torch.distributed as dist
from torch import nn


def structures(rank, n=20000):
    r = np.random.default_rng(rank)
    cell = r.uniform(3, 9, (n, 3))
    frac = r.random((n, 12, 3))
    z = r.integers(1, 60, (n, 12))
    d = frac[:, :, None] - frac[:, None]
    d -= np.round(d)
    dist_ = np.sqrt(((d * cell[:, None, None]) ** 2).sum(-1)) + 9 * np.eye(12)
    feats = np.concatenate([np.sort(dist_.min(-1), -1), np.sort(z, -1) / 60, cell / 9], 1)
    energy = -(1 / dist_ ** 2).sum((1, 2)) / 12 + .02 * z.mean(1)
    return torch.tensor(feats, dtype=torch.float32), torch.tensor(np.log1p(-energy.clip(max=0)), dtype=torch.float32)


def main():
    rank = int(os.environ["RANK"])
    x, y = structures(rank)
    print(f"prepared {len(x)} structures, {x.shape[1]} features", flush=True)
    print(f"joining {os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']} as rank {rank}", flush=True)
    dist.init_process_group("gloo")
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(27, 256), nn.SiLU(), nn.Linear(256, 256), nn.SiLU(), nn.Linear(256, 1)))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for epoch in range(1000):
        for i in torch.randperm(len(x)).split(256):
            loss = nn.functional.l1_loss(net(x[i]).squeeze(1), y[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch} mae {loss.item():.4f}", flush=True)


main()
