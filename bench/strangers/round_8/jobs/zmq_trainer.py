"""Trainer that asks a feeder for each batch."""

import argparse
import time

import msgpack
import torch
import zmq
from rich import print as rprint
from torch import nn

p = argparse.ArgumentParser()
p.add_argument("--source", required=True)
src = zmq.Context().socket(zmq.REQ)
src.connect(p.parse_args().source)
net = nn.Sequential(nn.Linear(50, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), 3e-4)
for n in range(1, 10**7):
    src.send(msgpack.packb({"n": 64}))
    got = msgpack.unpackb(src.recv())
    x = torch.frombuffer(bytearray(got["x"]), dtype=torch.float64).float().view(64, 50)
    y = torch.frombuffer(bytearray(got["y"]), dtype=torch.float64).float().view(64, 1)
    mse = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    mse.backward()
    opt.step()
    time.sleep(0.05)
    if n % 20 == 0:
        rprint(f"[bold]batch {n}[/bold] mse {mse.item():.4f}")
