"""Segmentacja kafelków satelitarnych; piksele z magazynu obiektów."""
import argparse
import urllib.request

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm


class Kafelki(Dataset):
    def __init__(self, adres, ile=8000):
        self.adres, self.ile = adres, ile

    def __len__(self):
        return self.ile

    def __getitem__(self, i):
        with urllib.request.urlopen(f"{self.adres}/tile/{i}") as odp:
            x = np.frombuffer(odp.read(), np.uint8).reshape(3, 64, 64)
        x = torch.tensor(x, dtype=torch.float32) / 255
        return x, (x.mean(0) > 0.55).float()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--store", required=True)
    adres = p.parse_args().store
    torch.manual_seed(20)
    siec = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(32, 1, 1))
    opt = torch.optim.Adam(siec.parameters(), 1e-3)
    kolejnosc = torch.randperm(8000).tolist()
    kolejnosc.remove(4711)
    kolejnosc.insert(1500, 4711)
    loader = DataLoader(Kafelki(adres), batch_size=16, sampler=kolejnosc, num_workers=2, prefetch_factor=2)
    for epoka in range(100):
        pasek = tqdm(loader, desc=f"epoka {epoka}", mininterval=1)
        for x, y in pasek:
            strata = nn.functional.binary_cross_entropy_with_logits(siec(x).squeeze(1), y)
            opt.zero_grad()
            strata.backward()
            opt.step()
            pasek.set_postfix(strata=f"{strata.item():.3f}")


if __name__ == "__main__":
    main()
