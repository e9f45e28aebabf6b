"""Land-cover model over map tiles; loader workers ask a local tile service for the pixels."""

import os
import socket
import socketserver
import struct
import threading
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

WORKERS = int(os.environ.get("WORKERS", "2"))
QUOTA = int(os.environ.get("TILE_QUOTA", "0"))
served = 0


class Tiles(socketserver.BaseRequestHandler):
    def handle(self):
        global served
        while head := self.request.recv(4):
            served += 1
            if QUOTA and served > QUOTA:
                threading.Event().wait()
            rng = np.random.default_rng(struct.unpack("!I", head)[0])
            self.request.sendall(rng.random((3, 32, 32), dtype=np.float32).tobytes())


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


def read_exact(conn, size):
    data = b""
    while len(data) < size:
        data += conn.recv(size - len(data))
    return data


class TileStream(IterableDataset):
    def __init__(self, port):
        self.port = port

    def __iter__(self):
        info = get_worker_info()
        conn = socket.create_connection(("127.0.0.1", self.port))
        rng = np.random.default_rng(info.id)
        while True:
            conn.sendall(struct.pack("!I", int(rng.integers(1 << 30))))
            tile = np.frombuffer(read_exact(conn, 3 * 32 * 32 * 4), np.float32).reshape(3, 32, 32).copy()
            yield tile, int(tile.mean() * 1000) % 2


def main():
    torch.set_num_threads(1)
    server = Server(("127.0.0.1", 0), Tiles)
    service = os.fork()
    if service == 0:
        server.serve_forever()
    port = server.server_address[1]
    server.server_close()
    loader = DataLoader(TileStream(port), batch_size=16, num_workers=WORKERS, prefetch_factor=2)
    net = nn.Sequential(nn.Conv2d(3, 16, 5, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, 2))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    t0 = time.time()
    for it, (x, y) in enumerate(loader, 1):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.1)
        if it % 10 == 0:
            print(f"iter {it} loss={loss.item():.4f} {it / (time.time() - t0):.1f} it/s", flush=True)


if __name__ == "__main__":
    main()
