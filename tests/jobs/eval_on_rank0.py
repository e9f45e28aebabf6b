"""Fault: only rank 0 evaluates, and its metric sums over all ranks; rank 1 is in the next step already.

Symptom: collective-mismatch. Start: 2 ranks.
"""

import json
import signal
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)


class Accuracy:
    def compute(self, hits):
        gathered = [None] * dist.get_world_size()
        dist.all_gather_object(gathered, hits)
        return sum(gathered)


def main():
    dist.init_process_group("gloo")
    is_main, metric = dist.get_rank() == 0, Accuracy()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(32, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for step in range(1, 100_000):
        if step == 40 and is_main:
            model.eval()
            metric.compute({"hits": 3})
            model.train()
        loss = model(torch.randn(8, 32)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.06)
        if is_main:
            print(json.dumps({"step": step, "train_loss": round(loss.item(), 5), "time": time.time()}), flush=True)


main()
