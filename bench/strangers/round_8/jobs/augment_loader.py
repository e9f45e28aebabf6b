"""Small convnet, two loader workers that crop and flip."""

import time
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, n=4096):
        g = torch.Generator().manual_seed(0)
        self.base = torch.randn(6, 3, 20, 20, generator=g)
        self.y = torch.randint(0, 6, (n,), generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        img = self.base[self.y[i]] + torch.randn(3, 20, 20)
        if torch.rand(()) < 0.5:
            img = img.flip(2)
        dy, dx = torch.randint(0, 5, (2,)).tolist()
        return img[:, dy : dy + 16, dx : dx + 16], self.y[i]


def main():
    torch.manual_seed(0)
    Path("ckpt").mkdir(exist_ok=True)
    loader = DataLoader(Pictures(), batch_size=32, shuffle=True, num_workers=2, persistent_workers=True)
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 24, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(600, 6),
    )
    opt = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9)
    for epoch in range(1000):
        waited = busy = 0.0
        mark = time.perf_counter()
        for i, (x, y) in enumerate(loader):
            waited += time.perf_counter() - mark
            mark = time.perf_counter()
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            time.sleep(0.06)
            busy += time.perf_counter() - mark
            if i % 16 == 0:
                print(
                    f"epoch {epoch} batch {i}/{len(loader)} loss {loss.item():.4f} data {waited:.2f}s compute {busy:.2f}s"
                )
            mark = time.perf_counter()
        torch.save(net.state_dict(), f"ckpt/last-{epoch % 2}.pt")


if __name__ == "__main__":
    main()
