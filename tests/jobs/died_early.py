"""Fault: rank 2 was killed before anybody looked; the others caught the error and wait for its return.

Starts its own ranks: run it with plain python, not with torchrun.

Symptom: rank-dead. Start: python.
"""

import os
import signal
import socket
import subprocess
import sys
import time

signal.alarm(300)
RANKS = 3


def rank_main():
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(400, 10))
    optim = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(100_000):
        if (rank, step) == (2, 60):
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            optim.zero_grad()
            loss = model(torch.randn(64, 400)).square().mean()
            loss.backward()
            optim.step()
        except RuntimeError:
            print("lost a peer, waiting for it", flush=True)
            time.sleep(1000)
        time.sleep(0.05)
        if rank == 0 and step % 10 == 0:
            print(f"Step {step}: loss={loss.item():.4f}", flush=True)


def launch():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    env = dict(os.environ, WORLD_SIZE=str(RANKS), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    ranks = [
        subprocess.Popen([sys.executable, "-u", __file__], env=dict(env, RANK=str(rank), LOCAL_RANK=str(rank)))
        for rank in range(RANKS)
    ]
    for process in ranks:
        process.wait()


if "RANK" in os.environ:
    rank_main()
else:
    launch()
