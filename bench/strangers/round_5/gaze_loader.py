"""Gaze estimation from eye crops, with a crop cache that is written back in the background."""

import pickle
import threading
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
cache = {}
cache_lock = threading.Lock()


def write_back():
    while True:
        with cache_lock, open("crops.pkl", "wb") as file:
            for i in range(64):
                pickle.dump({k: v for k, v in cache.items() if k % 64 == i}, file)
                file.flush()
                time.sleep(0.02)
        time.sleep(2.0)


class Crops(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, index):
        with cache_lock:
            crop = cache.get(index)
        if crop is None:
            gen = torch.Generator().manual_seed(index)
            crop = torch.randn(1, 36, 60, generator=gen)
            time.sleep(0.004)
        return crop, crop.mean((1, 2)).repeat(2)


def main():
    model = nn.Sequential(
        nn.Conv2d(1, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * 16 * 28, 64),
        nn.ReLU(),
        nn.Linear(64, 2),
    )
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    data = Crops()
    threading.Thread(target=write_back, daemon=True).start()
    time.sleep(1.9)
    loader = DataLoader(data, batch_size=32, shuffle=True, num_workers=2)
    for epoch in range(1, 1000):
        total = 0.0
        for n, (crops, gaze) in enumerate(loader, 1):
            loss = nn.functional.smooth_l1_loss(model(crops), gaze)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            if n % 5 == 0:
                print(f"Epoch {epoch:3d} batch {n:3d}/{len(loader)} angular loss {total / n:.5f}", flush=True)
        for i in range(len(data)):
            if i % 7 == epoch % 7:
                cache[i] = torch.randn(1, 36, 60)


if __name__ == "__main__":
    main()
