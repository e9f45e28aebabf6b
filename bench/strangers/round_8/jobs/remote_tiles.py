"""Satellite tiles over HTTP into two loader workers. The tile server of this test bed is a child process."""

import http.server
import multiprocessing as mp
import time
import urllib.request

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Tiles(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        number = int(self.path.rsplit("/", 1)[1])
        if number == 777:
            time.sleep(86400)
        body = np.random.default_rng(number).normal(size=(3, 24, 24)).astype("float32").tobytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def serve(port):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tiles)
    port.send(server.server_port)
    server.serve_forever()


class Remote(Dataset):
    def __init__(self, base):
        self.base = base

    def __len__(self):
        return 100000

    def __getitem__(self, i):
        with urllib.request.urlopen(f"{self.base}/{i}") as answer:
            return torch.frombuffer(bytearray(answer.read()), dtype=torch.float32).view(3, 24, 24), i % 4


def main():
    here, there = mp.Pipe()
    mp.Process(target=serve, args=(there,), daemon=True, name="tile-server").start()
    loader = DataLoader(Remote(f"http://127.0.0.1:{here.recv()}/t"), batch_size=8, num_workers=2)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(3872, 4))
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for n, (x, y) in enumerate(loader, 1):
        loss = torch.nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.15)
        if n % 5 == 0:
            print(f"{time.time():.1f} batch={n} xent={loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
