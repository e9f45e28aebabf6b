"""Toy mixture of experts: one group moves tokens between experts, another one carries statistics."""

import argparse
import datetime as dt
import time

import torch
import torch.distributed as dist


class Router:
    def __init__(self, width: int, capacity: int):
        self.capacity = capacity
        self.gate = torch.nn.Linear(width, dist.get_world_size())
        self.expert = torch.nn.Linear(width, width)
        self.tokens = dist.new_group(timeout=dt.timedelta(hours=3))
        self.stats = dist.new_group(timeout=dt.timedelta(hours=3))

    def exchange(self, x: torch.Tensor) -> torch.Tensor:
        gathered = [torch.empty_like(x) for _ in range(dist.get_world_size())]
        dist.all_gather(gathered, x, group=self.tokens)
        return torch.stack(gathered).mean(0)

    def rebalance(self, load: torch.Tensor) -> None:
        dist.all_reduce(load, group=self.stats)
        with torch.no_grad():
            self.gate.bias -= 0.01 * (load / load.sum() - 0.5)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--capacity", type=int, default=60)
    parser.add_argument("--width", type=int, default=64)
    args = parser.parse_args()
    dist.init_process_group("gloo", timeout=dt.timedelta(hours=3))
    rank = dist.get_rank()
    torch.manual_seed(0)
    router = Router(args.width, args.capacity)
    params = [*router.gate.parameters(), *router.expert.parameters()]
    opt = torch.optim.SGD(params, lr=0.05)
    torch.manual_seed(100 + rank)
    for step in range(1, 100000):
        x = torch.randn(64, args.width)
        out = router.expert(x) * torch.softmax(router.gate(x), 1)[:, :1]
        loss = (out - x.roll(1, 1)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        load = torch.bincount(router.gate(x).argmax(1), minlength=2).float()
        if rank == 1 and step == 90:
            load += args.capacity  # a burst of tokens for one expert
        time.sleep(0.1)
        if load.max() > args.capacity:
            router.rebalance(load)
        router.exchange(x)
        if step % 10 == 0:
            print(f"r{rank} it {step:05d} aux_mse {loss.item():.5f} busiest {int(load.max())}", flush=True)


main()
