# torchrun --nproc-per-node 2 polymer_ddp.py
import datetime as dt
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.tensorboard import SummaryWriter


def say(*a):
    if dist.get_rank() == 0:
        print(dt.datetime.now().isoformat(timespec="milliseconds"), *a, flush=True)


def chains(gen, n):
    x = torch.randint(0, 20, (n, 40), generator=gen)
    one = nn.functional.one_hot(x, 20).float()
    w = torch.linspace(-1, 1, 20)
    return x, ((one @ w)[:, :-1] * (one @ w)[:, 1:]).sum(1) + 0.5 * torch.randn(n, generator=gen)


class Reg(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(20, 64)
        self.r = nn.LSTM(64, 96, batch_first=True)
        self.o = nn.Linear(96, 1)

    def forward(self, x):
        return self.o(self.r(self.e(x))[0].mean(1) * 10)[:, 0]


def main():
    dist.init_process_group("gloo", timeout=dt.timedelta(minutes=10))
    rank = dist.get_rank()
    torch.manual_seed(0)
    net = nn.parallel.DistributedDataParallel(Reg())
    opt = torch.optim.AdamW(net.parameters(), 4e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 60000)
    gen = torch.Generator().manual_seed(50 + rank)
    board = SummaryWriter("runs") if rank == 0 else None
    held = chains(torch.Generator().manual_seed(9), 3000)
    os.makedirs("ckpt", exist_ok=True)
    mean = 0.0
    for step in range(1, 60001):
        x, y = chains(gen, 48)
        loss = nn.functional.smooth_l1_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        sched.step()
        mean += loss.item() / 25
        if step % 25 == 0:
            say(f"step {step} loss {mean:.4f} gnorm {norm:.3f} lr {sched.get_last_lr()[0]:.2e}")
            if board:
                board.add_scalar("loss", mean, step)
            mean = 0.0
        if step % 250 == 0:
            if rank == 0:
                began = time.time()
                net.eval()
                with torch.no_grad():
                    mae = sum((net.module(a) - b).abs().sum().item() for a, b in zip(held[0].split(250), held[1].split(250))) / 3000
                net.train()
                torch.save({"net": net.module.state_dict(), "opt": opt.state_dict(), "step": step}, f"ckpt/{step // 250 % 2}.pt")
                say(f"eval at {step}: mae {mae:.4f} ({time.time() - began:.1f} s, saved)")
            dist.barrier()
    dist.destroy_process_group()


main()
