"""Order book model. DataLoader with workers that compute indicators with pandas."""
import os
import sys

import numpy as np
import pandas as pd
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

N_IND = int(os.environ.get("INDICATORS", "1"))
CACHE = os.environ.get("CACHE_DAYS") == "1"


class Book(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        with open(f"w{info.id}.pid", "w") as f:
            f.write(str(os.getpid()))
        rng = np.random.default_rng(info.id)
        days = []
        while True:
            df = pd.DataFrame({"p": 3 * np.sin(np.arange(900) / 7 + rng.random() * 6) + 0.4 * rng.normal(size=900), "v": rng.random(900)})
            for k in range(N_IND):
                df[f"ma{k}"] = df["p"].rolling(10 + k).mean()
                df[f"sd{k}"] = df["p"].rolling(10 + k).std()
            a = df[["p", "v", "ma0", "sd0"]].fillna(0).to_numpy(np.float32)
            if CACHE:
                days.append((a.copy(), np.tile(a, (6, 1))))  # so that a second epoch would be quick
            for i in range(0, 880, 44):
                yield a[i : i + 40], np.float32(a[i + 40 if i + 40 < 900 else -1, 0] > a[i + 39, 0])


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.g, self.o = torch.nn.GRU(4, 96, 2, batch_first=True), torch.nn.Linear(96, 1)

    def forward(self, x):
        return self.o(self.g(x)[0][:, -1])[:, 0]


if __name__ == "__main__":
    torch.set_num_threads(1)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    loader = DataLoader(Book(), batch_size=int(sys.argv[1]) if len(sys.argv) > 1 else 40, num_workers=2)
    avg = 0.69
    for n, (x, y) in enumerate(loader, 1):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(net(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
        avg = 0.95 * avg + 0.05 * loss.item()
        if n % 10 == 0:
            sys.stderr.write(f"{n} batches done; smoothed BCE {avg:.4f}\n")
