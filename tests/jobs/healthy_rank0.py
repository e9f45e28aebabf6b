"""Healthy: rank 0 alone evaluates in a program of its own, then saves for long, while rank 1 waits at a barrier for it.

Symptom: none. Start: 2 ranks.
"""

import signal
import subprocess
import sys
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)

SCORE = """
import time
end = time.time() + 15
while time.time() < end:
    sum(range(200_000))
    time.sleep(0.05)
"""


def score():
    subprocess.run([sys.executable, "-c", SCORE], check=True)


def save_checkpoint():
    time.sleep(15)  # an upload that neither the CPU nor a disk notices


def train():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
    for step in range(1, 100_000):
        model.zero_grad()
        loss = model(torch.randn(32, 64)).pow(2).mean()
        loss.backward()
        time.sleep(0.05)
        if rank == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
        if step % 20 == 0:
            if rank == 0:
                score()
                save_checkpoint()
            dist.barrier()


train()
