"""Churn model whose rows sit behind a REST service; one request for each customer in the batch."""

import json
import multiprocessing as mp
import os
import random
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests
import torch
from torch import nn

LATENCY = float(os.environ.get("LATENCY", "0.12"))


class Rows(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        rng = random.Random(self.path)
        row = [rng.gauss(0, 1) for _ in range(20)]
        time.sleep(LATENCY * rng.uniform(0.7, 1.3))
        body = json.dumps({"features": row, "churn": int(sum(row[:5]) > 0)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def serve(pipe):
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Rows)
    pipe.send(httpd.server_address[1])
    httpd.serve_forever()


def fetch_batch(session, base, size=8):
    rows = [session.get(f"{base}/customer/{random.randrange(100000)}").json() for _ in range(size)]
    return torch.tensor([r["features"] for r in rows]), torch.tensor([float(r["churn"]) for r in rows])


def main():
    torch.set_num_threads(1)
    here, there = mp.Pipe()
    mp.Process(target=serve, args=(there,), daemon=True).start()
    base = f"http://127.0.0.1:{here.recv()}"
    session = requests.Session()
    model = nn.Sequential(nn.Linear(20, 256), nn.ReLU(), nn.Linear(256, 1))
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    for step in range(1, 100000):
        x, y = fetch_batch(session, base)
        loss = nn.functional.binary_cross_entropy_with_logits(model(x)[:, 0], y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
