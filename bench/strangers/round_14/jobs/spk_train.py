"""x-vector training, 2 processes:  torchrun --nproc_per_node 2 spk_train.py"""
import os
import socket
import subprocess
import sys
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
from filelock import FileLock
from torch.nn.parallel import DistributedDataParallel as DDP

CACHE = "feat_cache"
FETCH = """
import socket, sys
from filelock import FileLock
path, port = sys.argv[1], int(sys.argv[2])
with FileLock(path + ".lock"):
    s = socket.create_connection(("127.0.0.1", port))
    s.sendall(b"GET " + path.encode() + b"\\n")
    data = b""
    while True:
        chunk = s.recv(65536)
        if not chunk:
            break
        data += chunk
    open(path, "wb").write(data)
"""


def say(*a):
    sys.stdout.write(time.strftime("%H:%M:%S ") + f"[r{dist.get_rank()}] " + " ".join(map(str, a)) + "\n")


class XVec(nn.Module):
    def __init__(self, feat=24, spk=120):
        super().__init__()
        self.tdnn = nn.Sequential(
            nn.Conv1d(feat, 64, 5), nn.ReLU(), nn.BatchNorm1d(64),
            nn.Conv1d(64, 64, 3, dilation=2), nn.ReLU(), nn.BatchNorm1d(64),
        )
        self.emb = nn.Linear(128, 64)
        self.out = nn.Linear(64, spk)

    def forward(self, x):
        h = self.tdnn(x)
        h = torch.cat([h.mean(-1), h.std(-1)], 1)
        return self.out(torch.relu(self.emb(h)))


def store():
    """object store gateway, answers nothing until the object is staged"""
    srv = socket.socket()
    srv.bind(("127.0.0.1", 31105))
    srv.listen(8)
    return srv


def shard(epoch, rank, centers):
    path = f"{CACHE}/e{epoch:02d}_r{rank}.npz"
    if epoch >= 3 and rank == 1:
        subprocess.Popen([sys.executable, "-c", FETCH, path, "31105"])
        time.sleep(1.0)
    with FileLock(path + ".lock"):
        if not os.path.exists(path):
            rng = np.random.default_rng(epoch * 10 + rank)
            y = rng.integers(0, len(centers), 3200)
            x = centers[y][:, :, None] + rng.normal(0, 2.0, (3200, 24, 60))
            np.savez(path, x=x.astype("float32"), y=y)
        z = np.load(path)
        return torch.from_numpy(z["x"]), torch.from_numpy(z["y"])


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    os.makedirs(CACHE, exist_ok=True)
    gateway = store() if rank == 0 else None
    torch.manual_seed(3)
    centers = np.random.default_rng(0).normal(0, 1, (120, 24))
    model = DDP(XVec())
    opt = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    for epoch in range(400):
        say(f"epoch {epoch}: loading features")
        x, y = shard(epoch, rank, centers)
        dist.barrier()
        order = torch.randperm(len(x))
        for i in range(0, len(x), 64):
            b = order[i:i + 64]
            loss = nn.functional.cross_entropy(model(x[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            if i % 640 == 0:
                say(f"epoch {epoch} it {i // 64} ce {loss.item():.4f}")


main()
