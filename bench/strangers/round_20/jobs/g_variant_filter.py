"""Variant filter: logistic/MLP on call annotations, data-parallel over chromosomes. Gradients meet in a TCPStore on rank 0."""
import datetime
import io
import os
import random
import subprocess
import sys

import torch
import torch.distributed as dist
from torch import nn

PORT = 35261


def write_calls(path, chroms, seed):
    rng = random.Random(seed)
    with open(path, "w") as f:
        f.write("#CHROM\tPOS\tREF\tALT\tQUAL\tDP\tMQ\tFS\tTRUE\n")
        for i in range(9000):
            c = chroms[i * len(chroms) // 9000]
            t = int(rng.random() < .5)
            q = f"{rng.gauss(55 if t else 35, 15):.1f}"
            if c == "chrX" and rng.random() < .002:
                q = "."
            f.write(f"{c}\t{1000 + 37 * i}\t{rng.choice('ACGT')}\t{rng.choice('ACGT')}\t{q}\t{rng.randint(8, 60)}\t{rng.gauss(58 if t else 50, 6):.1f}\t{abs(rng.gauss(2 if t else 6, 4)):.2f}\t{t}\n")


def batches(path, size):
    while True:
        x, y = [], []
        with open(path) as f:
            next(f)
            for line in f:
                chrom, pos, ref, alt, qual, dp, mq, fs, true = line.split("\t")
                x.append([float(qual) / 50, int(dp) / 40, float(mq) / 60, float(fs) / 10, float(ref + alt in ("AG", "GA", "CT", "TC"))])
                y.append(float(true))
                if len(x) == size:
                    yield torch.tensor(x), torch.tensor(y)
                    x, y = [], []


def work(rank, world):
    store = dist.TCPStore("127.0.0.1", PORT, world, is_master=rank == 0, timeout=datetime.timedelta(hours=6))
    path = f"calls.{rank}.tsv"
    write_calls(path, [["chr1", "chr2", "chr3"], ["chr7", "chr20", "chrX"]][rank % 2], rank)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(5, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for step, (x, y) in enumerate(batches(path, 16)):
        loss = nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y)
        opt.zero_grad()
        loss.backward()
        flat = torch.cat([p.grad.flatten() for p in net.parameters()])
        out = io.BytesIO()
        torch.save(flat, out)
        store.set(f"g/{step}/{rank}", out.getvalue())
        total = torch.zeros_like(flat)
        for r in range(world):
            total += torch.load(io.BytesIO(store.get(f"g/{step}/{r}")))
        store.delete_key(f"g/{step - 2}/{rank}")
        at = 0
        for p in net.parameters():
            p.grad.copy_(total[at:at + p.numel()].view_as(p) / world)
            at += p.numel()
        opt.step()
        if step % 20 == 0:
            print(f"rank{rank} <{step}> bce={loss.item():.4f}", flush=True)


if __name__ == "__main__":
    if "RANK" in os.environ:
        work(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    else:
        procs = [subprocess.Popen([sys.executable, __file__], env={**os.environ, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": "2"}, stderr=subprocess.STDOUT)
                 for r in range(2)]
        for p in procs:
            p.wait()
