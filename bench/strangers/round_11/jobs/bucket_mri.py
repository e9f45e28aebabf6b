"""Сегментация МРТ; срезы лежат в объектном хранилище."""
import http.server
import io
import multiprocessing as mp
import random
import socketserver
import time

import numpy as np
import requests
import torch
from torch import nn

PORT = 31013


class Bucket(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        seed = int(self.path.rsplit("/", 1)[1])
        rng = np.random.default_rng(seed)
        img = rng.standard_normal((64, 64)).astype("float16")
        cy, cx = rng.integers(12, 52, 2)
        img[cy - 8:cy + 8, cx - 8:cx + 8] += 1.0
        buf = io.BytesIO()
        np.savez(buf, img=img, box=np.array([cy, cx]))
        time.sleep(max(0.02, random.gauss(0.12, 0.04)))
        body = buf.getvalue()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


def serve():
    Server(("127.0.0.1", PORT), Bucket).serve_forever()


class Slices(torch.utils.data.Dataset):
    def __init__(self):
        self.http = requests.Session()

    def __len__(self):
        return 4000

    def __getitem__(self, i):
        z = np.load(io.BytesIO(self.http.get(f"http://127.0.0.1:{PORT}/mri/{i}").content))
        mask = np.zeros((1, 64, 64), "float32")
        cy, cx = z["box"]
        mask[0, cy - 8:cy + 8, cx - 8:cx + 8] = 1
        return torch.from_numpy(z["img"].astype("float32"))[None], torch.from_numpy(mask)


if __name__ == "__main__":
    mp.get_context("spawn").Process(target=serve, daemon=True).start()
    time.sleep(4)
    net = nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 1, 1))
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    loader = torch.utils.data.DataLoader(Slices(), batch_size=8, shuffle=True)
    шаг = 0
    for эпоха in range(50):
        for x, y in loader:
            потеря = nn.functional.binary_cross_entropy_with_logits(net(x), y)
            opt.zero_grad()
            потеря.backward()
            opt.step()
            шаг += 1
            print(f"эпоха {эпоха} шаг {шаг} потеря {потеря.item():.4f}", flush=True)
