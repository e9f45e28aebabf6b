"""Travel times on a corridor graph: diffusion convolution + GRU cell, two ranks. Rank 0 evaluates and saves every 100 steps."""
import ctypes
import logging
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

S, T = 60, 12
rank = int(os.environ["RANK"])
logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format=f"%(asctime)s.%(msecs)03d r{rank} %(levelname)s %(message)s", datefmt="%H:%M:%S")


class DiffusionGRU(nn.Module):
    def __init__(self, A, d=32):
        super().__init__()
        self.register_buffer("hops", torch.stack([torch.eye(S), A, A @ A]))
        self.gates = nn.Linear(3 * (d + 1), 2 * d)
        self.cand = nn.Linear(3 * (d + 1), d)
        self.out = nn.Linear(d, 3)
        self.d = d

    def mix(self, x):
        return torch.einsum("kij,bjc->bikc", self.hops, x).flatten(2)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], S, self.d)
        for t in range(x.shape[1]):
            u = x[:, t, :, None]
            z, r = self.gates(self.mix(torch.cat([u, h], -1))).sigmoid().chunk(2, -1)
            h = z * h + (1 - z) * self.cand(self.mix(torch.cat([u, r * h], -1))).tanh()
        return self.out(h)


def history(n, A, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.zeros(n, S)
    for t in range(1, n):
        rush = max(0., torch.sin(torch.tensor(t / 40.)).item())
        jam = (torch.rand(S, generator=g) < .01 * (1 + 3 * rush)) * 3.
        x[t] = .75 * A @ x[t - 1] + .15 * x[t - 1] + .3 * rush + jam + .1 * torch.randn(S, generator=g)
    return (x - x.mean()) / x.std()


def main():
    ctypes.CDLL(None).prctl(1, 15)
    dist.init_process_group("gloo")
    A = torch.diag(torch.ones(S - 1), 1) + torch.diag(torch.ones(S - 1), -1) + torch.eye(S)
    A = A / A.sum(1, keepdim=True)
    data, held = history(12000, A, 3), history(2500, A, 4)
    g = torch.Generator().manual_seed(rank)
    torch.manual_seed(0)
    net = DistributedDataParallel(DiffusionGRU(A))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 12000)
    begun = time.time()
    run = 0.
    for step in range(1, 12001):
        at = torch.randint(0, len(data) - T - 3, (16,), generator=g).tolist()
        w = torch.stack([data[i:i + T + 3] for i in at])
        loss = nn.functional.smooth_l1_loss(net(w[:, :T]), w[:, T:].transpose(1, 2))
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        run += loss.item()
        if step % 30 == 0:
            logging.info("step %d  huber %.4f  lr %.6f  %.1f it/s", step, run / 30, sched.get_last_lr()[0], step / (time.time() - begun))
            run = 0.
        if step % 100 == 0:
            if rank == 0:
                with torch.no_grad():
                    err = [nn.functional.l1_loss(net.module(held[None, i:i + T]), held[None, i + T:i + T + 3].transpose(1, 2)).item() for i in range(0, 1200, 8)]
                torch.save({"net": net.module.state_dict(), "opt": opt.state_dict(), "step": step}, "last.pt.tmp")
                os.replace("last.pt.tmp", "last.pt")
                logging.info("held-out mae %.4f over %d windows, saved last.pt", sum(err) / len(err), len(err))
            dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
