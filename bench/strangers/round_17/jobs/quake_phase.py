"""P/S phase picking with DDP. Rank 0 evaluates on the catalogue after each epoch, the others wait for it at the barrier."""
import json
import math
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def traces(n, gen):
    x = torch.randn(n, 3, 300, generator=gen)
    onset = torch.randint(60, 240, (n,), generator=gen)
    t = torch.arange(300)
    env = torch.where(t >= onset[:, None], torch.exp(-(t - onset[:, None]).clamp(min=0) / 40.0), torch.zeros(1))
    return x * (0.5 + 2.2 * env[:, None]), ((onset - 60) // 30).clamp(max=5)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    gen = torch.Generator().manual_seed(40 + rank)
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv1d(3, 16, 9, stride=2), nn.BatchNorm1d(16), nn.ReLU(), nn.Conv1d(16, 32, 7, stride=2), nn.ReLU(),
        nn.Conv1d(32, 32, 5, stride=2), nn.ReLU(), nn.AdaptiveAvgPool1d(8), nn.Flatten(), nn.Linear(256, 6))
    ddp = DDP(net)
    opt = torch.optim.AdamW(ddp.parameters(), lr=1e-3)
    warm = 200
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / warm) * (0.55 + 0.45 * math.cos(s / 9000 * math.pi)))
    cat = traces(3000, torch.Generator().manual_seed(1)) if rank == 0 else None
    stop = torch.zeros(1)
    t0, step, epoch = time.time(), 0, 0
    while not stop.item():
        ddp.train()
        for _ in range(150):
            x, y = traces(32, gen)
            loss = nn.functional.cross_entropy(ddp(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            step += 1
            if rank == 0 and step % 25 == 0:
                print(json.dumps({"ts": round(time.time(), 2), "step": step, "loss": round(loss.item(), 4), "lr": sched.get_last_lr()[0]}), flush=True)
        if rank == 0:
            net.eval()
            with torch.no_grad():
                right = sum((net(cat[0][k:k + 100]).argmax(1) == cat[1][k:k + 100]).sum().item() for k in range(0, 3000, 100))
            print(json.dumps({"epoch": epoch, "accuracy": round(right / 3000, 4)}), flush=True)
            torch.save({"net": net.state_dict(), "step": step}, "phase.tmp")
            os.replace("phase.tmp", "phase.pt")
        stop.fill_(float(time.time() - t0 > 165))
        dist.broadcast(stop, 0)
        epoch += 1
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
