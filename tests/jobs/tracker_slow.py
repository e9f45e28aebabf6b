"""Fault: each step posts its metrics to a tracking server, which takes 120 ms to say yes.

Symptom: logging-overhead. Start: python.
"""

import http.server
import json
import signal
import threading
import time
import urllib.request

import torch

signal.alarm(300)
torch.set_num_threads(1)


class Tracker(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(0.12)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass


class MetricLogger:
    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}/api/runs/log"

    def log_metrics(self, metrics):
        body = json.dumps(metrics).encode()
        urllib.request.urlopen(urllib.request.Request(self.url, body)).close()


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tracker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    run, model = MetricLogger(server.server_port), torch.nn.Linear(64, 64)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(1, 100_000):
        loss = model(torch.randn(32, 64)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.05)
        run.log_metrics({"step": step, "loss": loss.item()})
        if step % 10 == 0:
            print(f"step={step}, loss={loss.item():.3f}", flush=True)


main()
