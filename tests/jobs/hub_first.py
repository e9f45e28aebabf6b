"""Fault: before the first step rank 0 asks a server for the weights that never sends them; rank 1 waits at the barrier.

Symptom: rank-missing-from-collective. Start: 2 ranks.
"""

import signal
import socket

import torch
import torch.distributed as dist

signal.alarm(300)
torch.set_num_threads(1)


def download(name):
    with socket.create_server(("127.0.0.1", 0)) as server:
        hub = socket.create_connection(server.getsockname())
        hub.sendall(f"GET /{name} HTTP/1.1\r\n\r\n".encode())
        return hub.recv(1 << 20)


dist.init_process_group("gloo")
print("loading the model", flush=True)
if dist.get_rank() == 0:
    download("model.safetensors")
dist.barrier()
