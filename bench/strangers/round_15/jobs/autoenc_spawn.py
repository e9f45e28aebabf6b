import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), nn.GELU(), nn.Conv2d(16, 32, 3, 2, 1), nn.GELU())
        self.dec = nn.Sequential(nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.GELU(), nn.ConvTranspose2d(16, 1, 4, 2, 1))

    def forward(self, x):
        return self.dec(self.enc(x))


def blobs(n, gen):
    g = torch.linspace(-1, 1, 32)
    c = torch.rand(n, 2, generator=gen) * 1.4 - 0.7
    w = torch.rand(n, 1, 1, generator=gen) * 0.1 + 0.02
    d = (g[None, None, :] - c[:, 0, None, None]) ** 2 + (g[None, :, None] - c[:, 1, None, None]) ** 2
    return torch.exp(-d / w)[:, None]


def save_and_validate(model, val, it):
    model.eval()
    with torch.no_grad():
        err = ((model.module(val) - val) ** 2).mean().item()
    model.train()
    tmp = f"ae_{it}.pt.tmp"
    torch.save(model.module.state_dict(), tmp)
    dist.barrier()  # file complete before anybody reads it
    os.replace(tmp, f"ae_{it}.pt")
    return err


def run(rank, world):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="31112", RANK=str(rank), WORLD_SIZE=str(world))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(100 + rank)
    model = DistributedDataParallel(AutoEncoder())
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    val = blobs(128, torch.Generator().manual_seed(5))
    t0 = time.time()
    for it in range(1, 50001):
        x = blobs(64, gen)
        loss = ((model(x + 0.1 * torch.randn(x.shape, generator=gen)) - x) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if rank == 0 and it % 20 == 0:
            print(f"[{time.time() - t0:7.1f}s] it {it:>5} | mse {loss.item():.6f}", flush=True)
        if rank == 0 and it % 300 == 0:
            err = save_and_validate(model, val, it)
            print(f"[{time.time() - t0:7.1f}s] it {it:>5} | val mse {err:.6f}", flush=True)


if __name__ == "__main__":
    mp.spawn(run, args=(2,), nprocs=2)
