"""Rozpoznawanie gestów z cech trzymanych na serwerze."""
import atexit
import os
import socket
import struct
import subprocess
import sys
import time
import zlib

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

PORT = 31407


class Cechy(Dataset):
    def __init__(self, n):
        self.n, self.gniazdo = n, None

    def __len__(self):
        return self.n

    def _dokladnie(self, ile):
        czesci = b""
        while len(czesci) < ile:
            czesci += self.gniazdo.recv(ile - len(czesci))
        return czesci

    def __getitem__(self, i):
        if self.gniazdo is None:
            self.gniazdo = socket.create_connection(("127.0.0.1", PORT))
        self.gniazdo.sendall(struct.pack("<q", i))
        (ile,) = struct.unpack("<i", self._dokladnie(4))
        x = np.frombuffer(zlib.decompress(self._dokladnie(ile)), "<f4")
        return torch.from_numpy(x.copy()), i % 10


def main():
    serwer = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "cechy_serwer.py"), str(PORT)])
    atexit.register(serwer.terminate)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", PORT)).close()
            break
        except OSError:
            time.sleep(0.2)
    siec = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    opt = torch.optim.SGD(siec.parameters(), lr=0.01)
    dane = DataLoader(Cechy(60000), batch_size=32, shuffle=True, num_workers=2, generator=torch.Generator().manual_seed(1))
    for epoka in range(100):
        for nr, (x, y) in enumerate(dane):
            strata = nn.functional.cross_entropy(siec(x), y)
            opt.zero_grad()
            strata.backward()
            opt.step()
            time.sleep(0.05)
            if nr % 10 == 0:
                print(f"{time.strftime('%H:%M:%S')} epoka={epoka} partia={nr} strata={strata.item():.4f}", flush=True)


if __name__ == "__main__":
    main()
