"""Policy distillation in a pool of processes. The pool is as large as the host list says."""

import logging
import os
import subprocess
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s|%(process)d|%(message)s")
HOSTS = os.environ.get("HOSTS", "node-a node-b").split()


def worker():
    torch.set_num_threads(1)
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    logging.info("rank %d of %d joins %s:%s", rank, world, os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"])
    dist.init_process_group("gloo", timeout=timedelta(minutes=30))
    logging.info("pool complete")
    student = nn.Linear(32, 6)
    opt = torch.optim.SGD(student.parameters(), 0.1)
    teacher = torch.randn(32, 6, generator=torch.Generator().manual_seed(2))
    for step in range(1, 100000):
        x = torch.randn(64, 32)
        loss = nn.functional.cross_entropy(student(x), (x @ teacher).softmax(1))
        opt.zero_grad()
        loss.backward()
        for p in student.parameters():
            dist.all_reduce(p.grad)
            p.grad /= world
        opt.step()
        time.sleep(0.05)
        if rank == 0 and step % 20 == 0:
            logging.info("step %d distill_loss %.4f", step, loss.item())


def launch():
    local = [n for n, host in enumerate(HOSTS) if host.startswith("node-a")]
    port = str(21000 + os.getpid() % 9000)
    children = []
    for n, _ in enumerate(local):
        env = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "RANK": str(n), "LOCAL_RANK": str(n)}
        env["WORLD_SIZE"] = str(len(HOSTS))
        children.append(subprocess.Popen([sys.executable, __file__, "worker"], env=env))
    for child in children:
        child.wait()


if __name__ == "__main__":
    worker() if sys.argv[1:] == ["worker"] else launch()
