# 知识蒸馏：教师 -> 学生，多进程 CPU 训练
# 用法: python distill_spawn.py [进程数]
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F

os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29641")


def mlp(width, depth):
    layers, d = [], 64
    for _ in range(depth):
        layers += [nn.Linear(d, width), nn.GELU()]
        d = width
    return nn.Sequential(*layers, nn.Linear(d, 20))


def worker(rank, world):
    torch.set_num_threads(1)
    os.environ["RANK"] = str(rank)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    teacher, student = mlp(512, 4).eval(), mlp(128, 2)
    ddp = nn.parallel.DistributedDataParallel(student)
    opt = torch.optim.AdamW(ddp.parameters(), lr=1e-3)
    gen = torch.Generator().manual_seed(rank)
    tic = time.time()
    for it in range(1, 10**6):
        x = torch.randn(512, 64, generator=gen)
        with torch.no_grad():
            t = teacher(x) * 20
        s = ddp(x)
        loss = F.kl_div(F.log_softmax(s / 2, -1), F.softmax(t / 2, -1), reduction="batchmean") * 4
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 50 == 0 and rank == 0:
            print(f"[{time.strftime('%H:%M:%S')}] 迭代 {it} 损失 loss={loss.item():.4f} 速度 {50 / (time.time() - tic):.1f} it/s", flush=True)
            tic = time.time()


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    procs = []
    ctx = mp.get_context("spawn")
    for r in range(n):
        p = ctx.Process(target=worker, args=(r, n), name=f"worker{r}")
        p.start()
        print(f"启动进程 rank={r} pid={p.pid}", flush=True)
        procs.append(p)
    for p in procs:
        p.join()
    print("退出码:", [p.exitcode for p in procs])
