"""Activity recognition from wrist sensors; records are read by a prefetch thread.  torchrun --nproc-per-node 2 imu_ddp.py"""
import json
import queue
import random
import threading
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

ACTIVITIES = {"walk": 0, "run": 1, "sit": 2, "stairs": 3}


def records(rank):
    """One JSON line per window, as exported by the app (rank = recording site)."""
    rng = random.Random(rank)
    n = 0
    while True:
        n += 1
        name = rng.choice(list(ACTIVITIES))
        if rank == 1 and n == 9000:
            name = "unknown"  # the user did not answer
        f = 1 + ACTIVITIES[name]
        yield json.dumps({"label": name, "acc": [round(rng.gauss(f if (t * f) % 16 < 8 else -f, 2), 3) for t in range(64)]})


class Prefetcher(threading.Thread):
    def __init__(self, source, batch=32):
        super().__init__(name="prefetch")
        self.source, self.batch, self.q = source, batch, queue.Queue(maxsize=8)
        self.start()

    def run(self):
        while True:
            self.q.put([next(self.source) for _ in range(self.batch)])


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Conv1d(1, 64, 9, padding=4), torch.nn.ReLU(), torch.nn.Conv1d(64, 64, 9, padding=4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool1d(4), torch.nn.Flatten(), torch.nn.Linear(256, 4))
    ddp = DistributedDataParallel(net)
    opt = torch.optim.Adam(ddp.parameters(), 1e-3)
    feed = Prefetcher(records(rank))
    tic = time.time()
    for step in range(1, 1_000_000):
        rows = [json.loads(r) for r in feed.q.get()]
        x = torch.tensor([r["acc"] for r in rows])[:, None]
        y = torch.tensor([ACTIVITIES[r["label"]] for r in rows])
        loss = torch.nn.functional.cross_entropy(ddp(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.03)  # be nice to the other users of this box
        if step % 20 == 0 and rank == 0:
            print(json.dumps({"step": step, "loss": round(loss.item(), 4), "sps": round(20 * 64 / (time.time() - tic), 1)}), flush=True)
            tic = time.time()


if __name__ == "__main__":
    main()
