"""Fault: rank 1 is killed while it writes its shard; the launcher waits for rank 0 first, and rank 0 for rank 1.

Starts its own ranks: run it with plain python, not with torchrun.

Symptom: rank-dead. Start: python.
"""

import datetime
import os
import signal
import socket
import subprocess
import sys
import time

signal.alarm(300)


def rank_main():
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    store = dist.distributed_c10d._get_default_store()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 1))
    optim = torch.optim.SGD(model.parameters(), lr=1e-2)
    for step in range(1, 100_000):
        loss = model(torch.randn(32, 64)).pow(2).mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
        time.sleep(0.1)
        print(f"rank {rank} step {step} loss {loss.item():.4f}", flush=True)
        if step == 30:
            save_sharded_checkpoint(rank, store)


def save_sharded_checkpoint(rank, store):
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    store.wait(["shard_1_written"], datetime.timedelta(minutes=10))


def launch():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    ranks = []
    for rank in range(2):
        env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", LOCAL_WORLD_SIZE="2")
        env.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), OMP_NUM_THREADS="1")
        with open(f"rank{rank}.log", "wb") as log:
            ranks.append(subprocess.Popen([sys.executable, "-u", __file__], env=env, stdout=log, stderr=log))
    sys.exit(max(p.wait() for p in ranks))


if "RANK" in os.environ:
    rank_main()
else:
    launch()
