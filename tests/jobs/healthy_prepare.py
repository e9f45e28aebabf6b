"""Healthy: rank 0 tokenizes the corpus on one core for a while; rank 1 waits at the barrier; then they train.

Symptom: none. Start: 2 ranks.
"""

import signal
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)


def tokenize(seconds):
    end, ids = time.time() + seconds, {}
    while time.time() < end:
        for word in ("a", "corpus", "of", "words") * 500:
            ids.setdefault(word, len(ids))
    return ids


def main():
    dist.init_process_group("gloo")
    print("Preparing the data set", flush=True)
    if dist.get_rank() == 0:
        tokenize(28)
    dist.barrier()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(32, 8))
    for step in range(1, 100_000):
        model.zero_grad()
        loss = model(torch.randn(8, 32)).pow(2).mean()
        loss.backward()
        time.sleep(0.1)
        print(f"step {step} loss {loss.item():.4f}", flush=True)


main()
