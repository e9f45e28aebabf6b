"""Front or side view? Classifier of chest images, two loader workers."""

import argparse
import math
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Views(Dataset):
    def __init__(self, count=20_000, size=64):
        self.count, self.size = count, size

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        side = i % 2
        y, x = torch.meshgrid(torch.linspace(-1, 1, self.size), torch.linspace(-1, 1, self.size), indexing="ij")
        width = 0.25 if side else 0.4
        tilt = 0.2 * torch.randn(1, generator=g)
        lungs = torch.exp(-((x - tilt * y - width) ** 2) * 8) + (0 if side else 1) * torch.exp(-((x + width) ** 2) * 8)
        return (lungs + 1.2 * torch.randn(self.size, self.size, generator=g)).unsqueeze(0), side


def make_model():
    layers, channels = [], 1
    for width in (16, 32, 64):
        layers += [nn.Conv2d(channels, width, 3, padding=1), nn.GroupNorm(4, width), nn.ReLU(), nn.MaxPool2d(2)]
        channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 2))


def train_epoch(model, loader, opt, epoch):
    total = len(loader)
    running, t0 = math.nan, time.time()
    for n, (image, view) in enumerate(loader, 1):
        loss = nn.functional.cross_entropy(model(image), view)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running = loss.item() if math.isnan(running) else 0.95 * running + 0.05 * loss.item()
        if n % 10 == 0:
            print(f"{epoch:>3} [{n:>4}/{total}] loss {running:.4f}  {(time.time() - t0) / n:.3f} s/batch", flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--workers", type=int, default=2)
    ap.add_argument("--epochs", type=int, default=100)
    args = ap.parse_args()
    torch.manual_seed(0)
    loader = DataLoader(Views(), batch_size=24, shuffle=True, num_workers=args.workers, persistent_workers=True)
    model = make_model()
    opt = torch.optim.SGD(model.parameters(), lr=2e-3, momentum=0.9, weight_decay=1e-4)
    for epoch in range(args.epochs):
        train_epoch(model, loader, opt, epoch)
        torch.save(model.state_dict(), f"views_{epoch % 2}.pt")


if __name__ == "__main__":
    main()
