"""Dipole moments of small clusters, data parallel; the first rank validates with MC dropout."""
import logging
import os
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

ATOMS = 12
charges = torch.randn(ATOMS, generator=torch.Generator().manual_seed(3))


def clusters(n, gen):
    pos = torch.randn(n, ATOMS, 3, generator=gen)
    near = torch.exp(-torch.cdist(pos, pos))
    q = charges + 0.4 * (near @ charges)
    return pos.flatten(1), (q[..., None] * pos).sum(1) + 0.02 * torch.randn(n, 3, generator=gen)


def work(rank, world):
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:44011", rank=rank, world_size=world)
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(levelname).1s %(name)s: %(message)s")
    log = logging.getLogger("dipole")
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(ATOMS * 3, 512), nn.SiLU(), nn.Dropout(0.02), nn.Linear(512, 512), nn.SiLU(), nn.Dropout(0.02), nn.Linear(512, 512), nn.SiLU(), nn.Linear(512, 3))
    model = DDP(net)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
    gen = torch.Generator().manual_seed(100 + rank)
    hold_x, hold_y = clusters(4096, torch.Generator().manual_seed(7))
    best = float("inf")
    t = time.time()
    for step in range(1, 100_001):
        x, y = clusters(384, gen)
        loss = (model(x) - y).square().mean()
        opt.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        if step % 40 == 0:
            log.info("step %5d  loss %.5f  grad_norm %.3f  %.1f it/s", step, loss.item(), norm.item(), 40 / (time.time() - t))
            t = time.time()
        if step % 400 == 0:
            keep = torch.zeros(1)
            if rank == 0:
                with torch.no_grad():
                    draws = torch.stack([net(hold_x) for _ in range(24)])
                rmse = (draws.mean(0) - hold_y).square().mean().sqrt().item()
                if rmse < best:
                    best, keep[0] = rmse, 1
                    torch.save({"step": step, "net": net.state_dict()}, "best.tmp")
                    os.replace("best.tmp", "best.pt")
                log.info("validation: rmse %.4f, spread %.4f, best %.4f (%.1f s)", rmse, draws.std(0).mean().item(), best, time.time() - t)
            dist.broadcast(keep, 0)
            t = time.time()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(work, args=(2,), nprocs=2)
