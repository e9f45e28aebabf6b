"""Keyword spotter on raw audio; shards are streamed from the bucket."""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import requests
import torch
from torch import nn

PORT = 35241
store = subprocess.Popen([sys.executable, str(Path(__file__).with_name("g_shard_store.py")), "--port", str(PORT), "--egress", os.environ.get("EGRESS", "350000")])
http = requests.Session()


def fetch(n):
    for _ in range(50):
        try:
            r = http.get(f"http://127.0.0.1:{PORT}/shards/{n:06d}.pcm", timeout=120)
            break
        except requests.ConnectionError:
            time.sleep(.2)
    x = np.frombuffer(r.content, "<i2").reshape(16, 16000).astype(np.float32) / 32768
    return torch.from_numpy(x), torch.tensor([int(v) for v in r.headers["X-Labels"].split(",")])


class Spotter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("win", torch.hann_window(400))
        self.body = nn.Sequential(nn.Conv1d(201, 96, 5, padding=2), nn.ReLU(), nn.Conv1d(96, 96, 5, padding=2), nn.ReLU(), nn.AdaptiveMaxPool1d(1))
        self.head = nn.Linear(96, 8)

    def forward(self, x):
        s = torch.stft(x, 400, 160, window=self.win, return_complex=True).abs()
        return self.head(self.body(torch.log1p(s * 10)).squeeze(-1))


net = Spotter()
opt = torch.optim.Adam(net.parameters(), 1e-3)
start = time.time()
for step in range(1, 200000):
    x, y = fetch(step)
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(json.dumps({"step": step, "ce": round(loss.item(), 4), "utts": 16 * step, "t": round(time.time() - start, 2)}), flush=True)
