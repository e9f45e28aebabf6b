"""Salinity from temperature and depth, Argo floats. Starts its own two trainers: c_floats.py PORT"""
import os
import queue
import subprocess
import sys
import threading
import time

BASIN = ("atlantic", "indian")


def launch(port):
    group = []
    for number in range(len(BASIN)):
        env = dict(os.environ, RANK=str(number), WORLD_SIZE=str(len(BASIN)), MASTER_ADDR="localhost", MASTER_PORT=port)
        group.append(subprocess.Popen([sys.executable, __file__, "--trainer"], env=env))
    sys.exit(max(p.wait() for p in group))


class Uploader(threading.Thread):
    def __init__(self, path):
        super().__init__(name="uploader")
        self.path, self.inbox = path, queue.Queue()
        self.start()

    def run(self):
        while True:
            line = self.inbox.get()
            if line is None:
                return
            with open(self.path, "a") as f:
                f.write(line + "\n")


FLAGS = {"1": 1.0, "2": 0.8, "3": 0.3}


def profiles(basin, gen):
    import torch

    cycle = 0
    while True:
        cycle += 1
        flags = ["123"[i] for i in torch.randint(0, 3, (32,), generator=gen)]
        if basin == "indian" and cycle == 420:
            flags[5] = "8"
        x = torch.randn(32, 2, 50, generator=gen)
        y = 35 + 0.4 * x[:, 0] - 0.2 * x[:, 1]
        weight = torch.tensor([FLAGS[f] for f in flags])
        yield cycle, x, y, weight


def train():
    import torch
    import torch.distributed as dist
    from torch import nn

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    basin = BASIN[rank]
    up = Uploader(f"{basin}.csv")
    torch.manual_seed(1)
    net = nn.Sequential(nn.Flatten(), nn.Linear(100, 128), nn.SiLU(), nn.Linear(128, 50))
    opt = torch.optim.Adam(net.parameters(), 2e-3)
    for cycle, x, y, w in profiles(basin, torch.Generator().manual_seed(rank)):
        loss = (w * ((net(x) - (y - 35)) ** 2).mean(1)).mean()
        opt.zero_grad()
        loss.backward()
        for p in net.parameters():
            dist.all_reduce(p.grad)
            p.grad /= 2
        opt.step()
        if cycle % 20 == 0:
            up.inbox.put(f"{cycle},{loss.item():.5f}")
            print(f"{time.strftime('%H:%M:%S')} <{basin}> cycle {cycle} wmse {loss.item():.4f}", flush=True)
    up.inbox.put(None)


if __name__ == "__main__":
    train() if sys.argv[1] == "--trainer" else launch(sys.argv[1])
