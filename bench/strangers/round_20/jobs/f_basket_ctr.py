"""Click-through model for basket add-ons. Features come page by page from the feature store."""
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import requests
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

PORT = 35020
PAGES_PER_BATCH = 16


class StorePages(IterableDataset):
    def __init__(self, url):
        self.url = url

    def __iter__(self):
        with requests.Session() as http:
            page = 0
            while True:
                rows = []
                for _ in range(PAGES_PER_BATCH):
                    r = http.get(f"{self.url}/rows/{page}", timeout=30)
                    r.raise_for_status()
                    rows.append(np.frombuffer(r.content, "f4").reshape(-1, 49))
                    page += 1
                table = torch.from_numpy(np.concatenate(rows))
                yield table[:, :48], table[:, 48]


def start_store():
    here = Path(__file__).resolve().parent
    subprocess.Popen([sys.executable, str(here / "f_feature_store.py"), str(PORT)])
    url = f"http://127.0.0.1:{PORT}"
    for _ in range(100):
        try:
            if requests.get(url + "/health", timeout=1).ok:
                return url
        except requests.ConnectionError:
            time.sleep(0.1)
    raise SystemExit("feature store did not come up")


class Crossed(nn.Module):
    def __init__(self, d=48, h=256):
        super().__init__()
        self.cross = nn.ModuleList(nn.Linear(d, d) for _ in range(3))
        self.deep = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, 1))

    def forward(self, x):
        z = x
        for layer in self.cross:
            z = x * layer(z) + z
        return self.deep(z).squeeze(-1)


def main():
    torch.manual_seed(0)
    url = start_store()
    loader = DataLoader(StorePages(url), batch_size=None)
    net = Crossed()
    opt = torch.optim.Adam(net.parameters(), 3e-4)
    bce = nn.BCEWithLogitsLoss()
    began, rows = time.time(), 0
    for step, (x, y) in enumerate(loader, 1):
        loss = bce(net(x), y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        rows += len(x)
        print(f"ts={time.time():.1f} step={step} logloss={loss.item():.5f} rows={rows} rows_per_s={rows / (time.time() - began):.0f}")


if __name__ == "__main__":
    main()
