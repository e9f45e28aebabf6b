"""Fault: before the first step the weights are asked for through a proxy that takes the connection and never answers.

Symptom: hang. Start: python.
"""

import signal
import socket
import urllib.request

import torch

signal.alarm(300)
torch.set_num_threads(1)


def weights_of(name, proxy):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": f"http://127.0.0.1:{proxy}"}))
    with opener.open(f"http://models.invalid/{name}/weights.bin") as answer:
        return torch.frombuffer(bytearray(answer.read()), dtype=torch.float32)


def train():
    with socket.create_server(("127.0.0.1", 0)) as server:
        print("loading the model", flush=True)
        weight = weights_of("tiny", server.getsockname()[1])
        for step in range(1, 100_000):
            weight = weight * 0.99
            print(f"step {step} loss {weight.norm().item():.4f}", flush=True)


train()
