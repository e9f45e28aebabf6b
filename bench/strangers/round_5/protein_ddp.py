"""Contact maps of proteins, two processes; validation by the first one."""

import datetime
import logging
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Contacts(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(21, 32)
        self.conv = nn.Sequential(nn.Conv1d(32, 64, 9, padding=4), nn.ReLU(), nn.Conv1d(64, 32, 9, padding=4))

    def forward(self, residues):
        h = self.conv(self.embed(residues).transpose(1, 2))
        return h.transpose(1, 2) @ h / 32**0.5


def sample(n, length=96):
    residues = torch.randint(0, 21, (n, length))
    return residues, (residues[:, :, None] == residues[:, None]).float()


@torch.no_grad()
def validate(model, families):
    total = 0.0
    for _ in range(families):
        residues, contacts = sample(4, 256)
        total += nn.functional.binary_cross_entropy_with_logits(model(residues), contacts).item()
        time.sleep(0.1)  # structures come from the archive
    return total / families


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def work(rank, world, port):
    address = f"tcp://127.0.0.1:{port}"
    limit = datetime.timedelta(seconds=15)
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=world, timeout=limit)
    torch.set_num_threads(1)
    logging.basicConfig(
        stream=sys.stdout, level=logging.INFO if rank == 0 else logging.WARNING, format=f"[{rank}] %(message)s"
    )
    model = DistributedDataParallel(Contacts())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(1, 50_000):
        residues, contacts = sample(4)
        loss = nn.functional.binary_cross_entropy_with_logits(model(residues), contacts)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.02)
        if step % 20 == 0:
            logging.info("step %d bce %.4f", step, loss.item())
        if step % 200 == 0 and rank == 0:
            logging.info("validating on 500 families")
            logging.info("validation bce %.4f", validate(model.module, 500))


if __name__ == "__main__":
    torch.multiprocessing.spawn(work, args=(2, free_port()), nprocs=2)
