#!/usr/bin/env python3
# torchrun --standalone --nproc_per_node=2 nmt_ddp.py
import datetime as dt
import json
import math
import os
import random
import warnings

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel

warnings.filterwarnings("default")
V, D = 500, 64


class Tfm(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.pos = nn.Parameter(torch.randn(64, D) * 0.02)
        lay = nn.TransformerEncoderLayer(D, 4, 128, dropout=0.1, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(lay, 2)
        self.out = nn.Linear(D, V)

    def forward(self, x):
        return self.out(self.enc(self.emb(x) + self.pos[: x.shape[1]]))


def batches(rank, seed):
    # token-budget batching: about 1000 tokens each, sentence lengths vary
    r = random.Random(seed * 7919 + rank)
    while True:
        length = r.randint(10, 48)
        n = 1000 // length
        x = torch.randint(0, V, (n, length))
        y = (x * 3 + 17).remainder(V).roll(1, 1)
        yield x, y


def write(fh, rec):
    rec["time"] = dt.datetime.now().isoformat(timespec="milliseconds")
    fh.write(json.dumps(rec) + "\n")
    fh.flush()


def main():
    dist.init_process_group("gloo", timeout=dt.timedelta(minutes=10))
    rank = dist.get_rank()
    torch.manual_seed(rank)
    model = DistributedDataParallel(Tfm())
    opt = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98))
    warm = 400
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) / warm, math.sqrt(warm / (s + 1))))
    fh = open("train.jsonl", "a") if rank == 0 else None
    run = 0.0
    for step, (x, y) in enumerate(batches(rank, 1), 1):
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten(), label_smoothing=0.1)
        opt.zero_grad()
        loss.backward()
        gn = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        run += loss.item()
        if step % 25 == 0 and fh:
            write(fh, {"step": step, "loss": round(run / 25, 4), "gnorm": round(float(gn), 3), "lr": sched.get_last_lr()[0]})
        if step % 25 == 0:
            run = 0.0
        if step % 500 == 0:
            model.eval()
            with torch.no_grad():
                acc = torch.zeros(2)
                g = batches(rank, 999)
                for _ in range(25):
                    xv, yv = next(g)
                    acc += torch.tensor([(model.module(xv).argmax(-1) == yv).sum().item(), yv.numel()])
            dist.all_reduce(acc)
            model.train()
            if fh:
                write(fh, {"step": step, "valid_acc": round((acc[0] / acc[1]).item(), 4)})
                torch.save({"model": model.module.state_dict(), "opt": opt.state_dict()}, "last.pt.tmp")
                os.replace("last.pt.tmp", "last.pt")
            dist.barrier()


if __name__ == "__main__":
    main()
