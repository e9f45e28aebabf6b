"""torch.distributed.rpc: one server of parameters and two trainers that push gradients to it."""

import logging
import os
import threading

import torch
import torch.distributed.rpc as rpc
from samples import Rows
from torch import nn
from torch.utils.data import DataLoader

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
NET = lambda: nn.Sequential(nn.Linear(32, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 1))


class Server:
    def __init__(self):
        self.net = NET()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.02)
        self.lock = threading.Lock()

    def pull(self):
        with self.lock:
            return [each.detach().clone() for each in self.net.parameters()]

    def push(self, gradients):
        with self.lock:
            for each, gradient in zip(self.net.parameters(), gradients, strict=True):
                each.grad = gradient
            self.optimizer.step()


def train(server, rank):
    net = NET()
    step = 0
    while True:
        for x, y in DataLoader(Rows(), batch_size=256, shuffle=True):
            for each, value in zip(net.parameters(), server.rpc_sync().pull(), strict=True):
                each.data.copy_(value)
            loss = nn.functional.mse_loss(net(x).squeeze(1), y)
            net.zero_grad()
            loss.backward()
            server.rpc_sync().push([each.grad for each in net.parameters()])
            step += 1
            if step % 5 == 0:
                logging.info("trainer %d: batch %d, loss %.4f", rank, step, loss.item())


rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
rpc.init_rpc("server" if rank == 0 else f"trainer{rank}", rank=rank, world_size=world)
if rank:
    train(rpc.remote("server", Server), rank)
rpc.shutdown()
