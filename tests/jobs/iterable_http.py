"""Fault: an IterableDataset asks a slow server for each shard; its two loader workers wait for answers.

Symptom: input-bound-io. Start: python.
"""

import http.server
import json
import signal
import threading
import time
import urllib.request

import torch
from torch.utils.data import DataLoader, IterableDataset

signal.alarm(300)
torch.set_num_threads(1)


class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.9)
        body = json.dumps([0.5] * 256).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Shards(IterableDataset):
    def __init__(self, port):
        self.port = port

    def __iter__(self):
        while True:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/shard") as answer:
                yield torch.tensor(json.load(answer))


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    model = torch.nn.Linear(256, 1)
    opt = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step, x in enumerate(DataLoader(Shards(server.server_port), batch_size=1, num_workers=2)):
        loss = model(x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        time.sleep(0.02)
        print(f"| step {step} | loss {loss.item():.4f} | lr 1e-3 |", flush=True)


main()
