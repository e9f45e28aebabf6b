"""Fault: rank 0 computes histograms of all weights after each step, in Python; the others wait for it.

Symptom: straggler-rank. Start: 2 ranks.
"""

import signal

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)


def histograms(model):
    for parameter in model.parameters():
        counts = [0] * 20
        for value in parameter.detach().flatten()[:60_000].tolist():
            counts[min(19, max(0, int(10 * value + 10)))] += 1
    return counts


def main():
    dist.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(
        torch.nn.Sequential(*(torch.nn.Linear(256, 256) for _ in range(8)))
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for global_step in range(1, 100_000):
        loss = model(torch.randn(32, 256)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if dist.get_rank() == 0:
            histograms(model)
            print(f"global_step: {global_step}, loss: {loss.item():.6f}", flush=True)


main()
