"""Federated averaging over HTTP: one coordinator and a few clients with their own data."""

import argparse
import io
import os
import random
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--role", default="coordinator")
parser.add_argument("--url")
parser.add_argument("--clients", type=int, default=2)
parser.add_argument("--flaky", type=float, default=0.0)
args = parser.parse_args()
torch.set_num_threads(1)
lock = threading.Lock()
updates: dict[int, dict] = {}
current = {"round": 1}


def new_model():
    return nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 3))


def dump(obj):
    out = io.BytesIO()
    torch.save(obj, out)
    return out.getvalue()


class Api(BaseHTTPRequestHandler):
    def reply(self, code, body=b""):
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if random.random() < args.flaky:
            return self.reply(503)
        with lock:
            return self.reply(200, dump(current))

    def do_POST(self):
        body = torch.load(io.BytesIO(self.rfile.read(int(self.headers["Content-Length"]))))
        with lock:
            if body["round"] == current["round"]:
                updates[body["client"]] = body
        return self.reply(204)

    def log_message(self, *a):
        pass


def coordinator():
    model = new_model()
    current["weights"] = model.state_dict()
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{httpd.server_address[1]}"
    for n in range(args.clients):
        env = {**os.environ, "RANK": str(n), "WORLD_SIZE": str(args.clients), "LOCAL_RANK": str(n)}
        subprocess.Popen([sys.executable, __file__, "--role", "client", "--url", url], env=env)
    while True:
        while len(updates) < args.clients:
            time.sleep(0.05)
        with lock:
            got = list(updates.values())
            mean = {k: sum(u["weights"][k] for u in got) / len(got) for k in got[0]["weights"]}
            current.update(round=current["round"] + 1, weights=mean)
            updates.clear()
        loss = sum(u["loss"] for u in got) / len(got)
        print(f"Runde {current['round'] - 1}: Verlust {loss:.4f} ({len(got)} Teilnehmer)", flush=True)


def client():
    me = int(os.environ["RANK"])
    centers = torch.randn(3, 16, generator=torch.Generator().manual_seed(9))
    model, done = new_model(), 0
    opt = torch.optim.SGD(model.parameters(), 0.02)
    while True:
        answer = requests.get(args.url, timeout=30)
        if answer.status_code != 200:
            print(f"client {me}: HTTP {answer.status_code}, retry", flush=True)
            time.sleep(0.3)
            continue
        job = torch.load(io.BytesIO(answer.content))
        if job["round"] == done:
            time.sleep(0.1)
            continue
        model.load_state_dict(job["weights"])
        for _ in range(12):
            y = torch.randint(3, (32,))
            loss = nn.functional.cross_entropy(model(centers[y] + 2 * torch.randn(32, 16)), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            time.sleep(0.04)
        done = job["round"]
        update = {"client": me, "round": done, "weights": model.state_dict(), "loss": loss.item()}
        requests.post(args.url, data=dump(update), timeout=30)


coordinator() if args.role == "coordinator" else client()
