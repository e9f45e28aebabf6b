"""DDP by torch.multiprocessing.spawn, as in the tutorial: no launcher, no RANK in the environment."""

import logging
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from samples import Rows
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def train(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    logging.basicConfig(filename=f"rank{rank}.log", level=logging.INFO, format="%(asctime)s %(message)s")
    torch.set_num_threads(1)
    data = Rows()
    net = nn.Sequential(nn.Linear(32, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1))
    net = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    sampler = DistributedSampler(data)
    iteration = 0
    for epoch in range(100000):
        sampler.set_epoch(epoch)
        for x, y in DataLoader(data, batch_size=128, sampler=sampler):
            loss = nn.functional.mse_loss(net(x).squeeze(1), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            iteration += 1
            logging.info("epoch %d iter %d loss %.5f", epoch, iteration, loss.item())


if __name__ == "__main__":
    mp.spawn(train, args=(2, 29000 + os.getpid() % 5000), nprocs=2)
