"""Bird calls from spectrograms; everything can be looked at in TensorBoard."""

import math
import time

import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter

SPECIES = 20


class Calls:
    def __init__(self, seed=0):
        self.gen = torch.Generator().manual_seed(seed)
        self.base = 4 + 40 * torch.rand(SPECIES, generator=self.gen)
        self.slope = 30 * (torch.rand(SPECIES, generator=self.gen) - 0.5)

    def batch(self, n=24):
        label = torch.randint(0, SPECIES, (n,), generator=self.gen)
        t = torch.linspace(0, 1, 32)
        f = torch.arange(48.0).view(1, 48, 1)
        line = self.base[label].view(n, 1, 1) + self.slope[label].view(n, 1, 1) * t
        spec = torch.exp(-((f - line) ** 2) / 6) + 0.8 * torch.randn(n, 48, 32, generator=self.gen)
        return spec.unsqueeze(1), label


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(4), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU()
        )
        self.classify = nn.Sequential(nn.Flatten(), nn.Linear(32 * 12 * 8, 256), nn.ReLU(), nn.Linear(256, SPECIES))

    def forward(self, x):
        return self.classify(self.features(x))


class Board:
    """What goes to TensorBoard: scalars, and how weights, gradients and updates are distributed."""

    def __init__(self, folder):
        self.writer = SummaryWriter(folder)
        self.before = {}

    def remember(self, net):
        self.before = {name: p.detach().clone() for name, p in net.named_parameters()}

    def write(self, net, loss, step):
        self.writer.add_scalar("train/loss", loss, step)
        for name, p in net.named_parameters():
            self.writer.add_histogram(f"weight/{name}", p, step)
            self.writer.add_histogram(f"grad/{name}", p.grad, step)
            self.writer.add_histogram(f"update/{name}", p.detach() - self.before[name], step)
        self.writer.flush()


def main():
    torch.manual_seed(2)
    calls, net, board = Calls(), Net(), Board("board")
    opt = torch.optim.AdamW(net.parameters(), lr=1e-4)
    steps_per_epoch = 200
    began = time.time()
    for step in range(1, 40 * steps_per_epoch):
        spec, label = calls.batch()
        board.remember(net)
        loss = nn.functional.cross_entropy(net(spec), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        board.write(net, loss.item(), step)
        if step % 5 == 0:
            epoch = math.ceil(step / steps_per_epoch)
            print(f"Epoch {epoch} | step {step} | loss {loss.item():.3f} | {time.time() - began:.1f}s", flush=True)


if __name__ == "__main__":
    main()
