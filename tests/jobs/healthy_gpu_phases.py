"""Healthy: devices that are busy while it trains, and idle for seconds while it evaluates on the CPU and saves."""

import signal
import time

import torch
import torch.distributed as dist
from pretend_device import Device

signal.alarm(300)
torch.set_num_threads(1)


def evaluate(model):
    with torch.no_grad():
        for _ in range(20):
            model.module(torch.randn(256, 64))
            time.sleep(0.2)


def save_checkpoint(model):
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), "last.pt")
        time.sleep(2.5)
    dist.barrier()


def main():
    dist.init_process_group("gloo")
    device, model = Device(), torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 8))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(1, 100_000):
        loss = model(torch.randn(32, 64)).pow(2).mean()
        device.run(0.15)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if dist.get_rank() == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
        if step % 90 == 0:
            evaluate(model)
            save_checkpoint(model)


main()
