"""Federated averaging, three hospitals. The coordinator opens a round every ROUND_S seconds (data use agreement: at most
two rounds per minute). Between the rounds everybody sleeps."""
import logging
import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

ROUND_S = 30
logging.basicConfig(format="%(asctime)s %(name)s %(message)s", level=logging.INFO)


def local_data(site):
    g = torch.Generator().manual_seed(site)
    x = torch.randn(6000 - 1500 * site, 64, generator=g) + 0.2 * site
    return x, (x[:, :8].sum(1) > x[:, 8:16].sum(1)).float()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    site, sites = dist.get_rank(), dist.get_world_size()
    log = logging.getLogger(["coordinator+charite", "lyon", "torino"][site])
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
    x, y = local_data(site)
    weight = torch.tensor(float(len(x)))
    total = weight.clone()
    dist.all_reduce(total)
    for rnd in range(10_000):
        start = time.time()
        opt = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
        for _ in range(6):
            for i in torch.randperm(len(x)).split(64):
                loss = nn.functional.binary_cross_entropy_with_logits(net(x[i]).squeeze(1), y[i])
                opt.zero_grad()
                loss.backward()
                opt.step()
        log.info("round %d local training done, loss %.4f", rnd, loss.item())
        for p in net.parameters():
            p.data *= weight / total
            dist.all_reduce(p.data)
        if site == 0:
            torch.save(net.state_dict(), os.path.join(os.getcwd(), "global.pt"))
            log.info("round %d aggregated, next round in %.0f s", rnd, ROUND_S - (time.time() - start))
        time.sleep(max(0.0, ROUND_S - (time.time() - start)))


main()
