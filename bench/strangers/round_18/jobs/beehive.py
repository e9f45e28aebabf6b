"""Sounds of beehives. A small model server (for the beekeepers' app) stands by while the net trains with accumulation."""
import multiprocessing as mp
import socket
import time

import torch
from torch import nn


def serve(port):
    with socket.create_server(("127.0.0.1", port)) as server:
        while True:
            client, _ = server.accept()
            client.sendall(b"ok\n")
            client.close()


def clips(n):
    y = torch.randint(0, 2, (n, 1)).float()
    t = torch.arange(800) / 800
    f = 180 + 60 * y + torch.randn(n, 1) * 25
    return torch.sin(6.283 * f * t)[:, None] + torch.randn(n, 1, 800), y


def main():
    mp.get_context("spawn").Process(target=serve, args=(33620,), daemon=True, name="app").start()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv1d(1, 8, 31, 4), nn.ReLU(), nn.Conv1d(8, 8, 9, 2), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(8, 1))
    opt = torch.optim.AdamW(net.parameters(), 6e-3)
    accumulate, update = 8, 0
    for micro in range(1, 200000):
        x, y = clips(16)
        loss = nn.functional.binary_cross_entropy_with_logits(net(x), y)
        (loss / accumulate).backward()
        time.sleep(0.04)
        if micro % accumulate == 0:
            norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            opt.zero_grad()
            update += 1
            print(f"update {update:5d} (8 micro-batches) bce {loss.item():.3f} grad norm {norm:.3f}", flush=True)


if __name__ == "__main__":
    main()
