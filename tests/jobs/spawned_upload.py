"""Fault: ranks of torch.multiprocessing.spawn; after step 60 rank 0 uploads its metrics to a server that never answers.

Symptom: rank-missing-from-collective. Start: python.
"""

import os
import signal
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def upload_metrics(values):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as tracker:
        tracker.sendall(repr(values).encode())
        return tracker.recv(1024)


def worker(gpu, world_size, port):
    signal.alarm(300)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=gpu, world_size=world_size)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 8))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for i in range(100_000):
        loss = model(torch.randn(16, 64)).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.05)
        if i % 10 == 0 and gpu == 0:
            print(f"Epoch: [0][{i}/100000]\tTime 0.052 (0.053)\tLoss {loss.item():.4e} ({loss.item():.4e})")
            sys.stdout.flush()
        if i == 60 and gpu == 0:
            upload_metrics({"loss": loss.item()})


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free = s.getsockname()[1]
    os.environ.pop("RANK", None)
    mp.spawn(worker, nprocs=2, args=(2, free))
