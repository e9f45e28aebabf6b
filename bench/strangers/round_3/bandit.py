"""Contextual bandit for ranking, two ranks by multiprocessing.spawn, statistics reported by a thread."""
import os
import socket
import threading
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


class Stats:
    """Regret per arm. `report` is called by a thread, `add` by the training loop."""

    def __init__(self, rank, careful):
        self.rank, self.careful = rank, careful
        self.data, self.output = threading.Lock(), threading.Lock()
        self.sum, self.n = torch.zeros(8), torch.zeros(8)

    def add(self, arms, regret):
        with self.data:
            self.sum.index_add_(0, arms, regret)
            self.n.index_add_(0, arms, torch.ones_like(regret))
            if int(self.n.sum()) % 3200 == 0:
                time.sleep(0.002)
                with self.output:
                    print(f"[{self.rank}] {int(self.n.sum())} pulls, mean regret {float(self.sum.sum() / self.n.sum()):.4f}", flush=True)

    def report(self):
        while True:
            time.sleep(0.2)
            if self.careful:
                with self.data, self.output:
                    self.flush()
            else:
                with self.output:
                    time.sleep(0.15)  # open the file on the share
                    with self.data:
                        self.flush()

    def flush(self):
        with open(f"arms.{self.rank}.csv", "a") as f:
            f.write(",".join(f"{v:.3f}" for v in (self.sum / self.n.clamp(min=1)).tolist()) + "\n")


def run(rank, port, world):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)
    stats = Stats(rank, os.environ.get("LOCKS") != "mixed" or rank == 0)
    threading.Thread(target=stats.report, daemon=True).start()
    torch.manual_seed(0)
    theta = torch.randn(8, 40)
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(40, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8)))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    torch.manual_seed(rank + 1)
    for i in range(1_000_000):
        c = torch.randn(64, 40)
        truth = c @ theta.T / 6
        q = net(c)
        arms = torch.where(torch.rand(64) < 0.1, torch.randint(0, 8, (64,)), q.argmax(1))
        reward = truth.gather(1, arms[:, None])[:, 0] + 0.3 * torch.randn(64)
        loss = ((q.gather(1, arms[:, None])[:, 0] - reward) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        stats.add(arms, truth.max(1).values - truth.gather(1, arms[:, None])[:, 0])


if __name__ == "__main__":
    s = socket.socket()
    s.bind(("", 0))
    port = s.getsockname()[1]
    s.close()
    mp.spawn(run, args=(port, 2), nprocs=2)
