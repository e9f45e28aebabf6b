#!/usr/bin/env python
"""Local fan-out for the CTR model.  ctr_fanout.py        -> starts the workers
                                    ctr_fanout.py worker -> one worker (RANK, WORLD_SIZE)
"""
import os
import subprocess
import sys
from datetime import timedelta

WORLD = 2


def launch():
    procs = []
    for r in range(WORLD):
        env = dict(os.environ, RANK=str(r), WORLD_SIZE=str(WORLD), MASTER_ADDR="127.0.0.1", MASTER_PORT="31110")
        log = open(f"worker{r}.log", "w")
        procs.append(subprocess.Popen([sys.executable, __file__, "worker"], env=env, stdout=log, stderr=subprocess.STDOUT))
    print("started", [p.pid for p in procs], flush=True)
    for p in procs:
        p.wait()
    print("done", [p.returncode for p in procs], flush=True)


def worker():
    import numpy as np
    import torch
    from torch.distributed import TCPStore

    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    store = TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"]), world, rank == 0, timeout=timedelta(hours=6))
    rng = np.random.default_rng(rank)
    torch.manual_seed(7)
    placements = {"top": 0, "side": 1, "inline": 2, "footer": 3}
    net = torch.nn.Sequential(torch.nn.Linear(64 + 4, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 1))
    opt = torch.optim.Adagrad(net.parameters(), lr=0.01)
    truth = np.random.default_rng(99).normal(size=64).astype("float32")

    def events(day):
        names = list(placements) + (["video"] if day >= 12 and rank == 1 else [])
        for _ in range(16):
            x = rng.normal(size=(512, 64)).astype("float32")
            where = rng.choice(names, size=512, p=None if len(names) == 4 else [0.2495] * 4 + [0.002])
            y = (rng.random(512) < 1 / (1 + np.exp(-(x @ truth) / 4))).astype("float32")
            yield x, where, y

    def mean_of_all(step, vec):
        store.set(f"{step}/{rank}", vec.numpy().tobytes())
        total = torch.zeros_like(vec)
        for r in range(world):
            total += torch.frombuffer(bytearray(store.get(f"{step}/{r}")), dtype=torch.float32)
        if step > 1:
            store.delete_key(f"{step - 2}/{rank}")
        return total / world

    step = 0
    for day in range(365):
        for x, where, y in events(day):
            slot = np.zeros((len(where), 4), "float32")
            slot[np.arange(len(where)), [placements[w] for w in where]] = 1
            out = net(torch.from_numpy(np.hstack([x, slot]))).squeeze(1)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(out, torch.from_numpy(y))
            opt.zero_grad()
            loss.backward()
            flat = mean_of_all(step, torch.cat([p.grad.flatten() for p in net.parameters()]))
            at = 0
            for p in net.parameters():
                p.grad.copy_(flat[at : at + p.numel()].view_as(p))
                at += p.numel()
            opt.step()
            step += 1
        print(f"day={day} step={step} logloss={loss.item():.5f}", flush=True)


worker() if sys.argv[1:] == ["worker"] else launch()
