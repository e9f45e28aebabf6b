"""Fault: at step 30 rank 1 of 3 asks a service for new labels and waits for the answer for ever; the others all_reduce.

Symptom: rank-missing-from-collective. Start: 3 ranks.
"""

import signal
import socket
import time

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)


class LabelService:
    """A server that takes the question and never answers."""

    def __init__(self):
        self._ours, self._theirs = socket.socketpair()

    def ask(self, step):
        self._ours.sendall(f"labels for {step}\n".encode())
        return self._ours.recv(4096)


def refresh_labels(service, step):
    return service.ask(step)


def train():
    dist.init_process_group("gloo")
    rank, service, w = dist.get_rank(), LabelService(), torch.zeros(256)
    for step in range(1, 100_000):
        if step == 30 and rank == 1:
            refresh_labels(service, step)
        grad = torch.randn(256)
        dist.all_reduce(grad)
        w -= 0.01 * grad
        time.sleep(0.05)
        print(f"step {step} loss {2.5 / step**0.1:.4f} lr 1.0e-03", flush=True)


train()
