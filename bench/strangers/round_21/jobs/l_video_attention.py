import csv
import sys
import time

import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.spatial = nn.Conv3d(cin, cout, (1, 3, 3), (1, stride, stride), (0, 1, 1))
        self.temporal = nn.Conv3d(cout, cout, (3, 1, 1), 1, (1, 0, 0))
        self.norm = nn.BatchNorm3d(cout)

    def forward(self, x):
        return torch.relu(self.norm(self.temporal(torch.relu(self.spatial(x)))))


class R2Plus1(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.stem = Block(3, 12, 2)
        self.b1 = Block(12, 24, 1)
        self.b2 = Block(24, 32, 2)
        self.fc = nn.Linear(32, classes)

    def forward(self, x):
        return self.fc(self.b2(self.b1(self.stem(x))).mean((2, 3, 4)))


class ActivationStats:
    def __init__(self):
        self.latest = {}

    def watch(self, model):
        for name, module in model.named_modules():
            if isinstance(module, (Block, nn.Conv3d)):
                module.register_forward_hook(self._hook(name))

    def _hook(self, name):
        def fn(module, inputs, output):
            out = output.detach()
            self.latest[name] = (out.mean().item(), out.std().item(), (out == 0).float().mean().item())
        return fn


def batches(n=6, classes=10):
    g = torch.Generator().manual_seed(2)
    grid = torch.linspace(0, 6.28, 64)
    while True:
        y = torch.randint(0, classes, (n,), generator=g)
        t = torch.arange(8).float()
        phase = grid[None, None, :] * 3 + t[None, :, None] * (y[:, None, None] - 4.5) * 0.35
        x = torch.sin(phase)[:, None, :, None, :].expand(n, 3, 8, 64, 64)
        yield x + 0.4 * torch.randn(x.shape, generator=g), y


torch.manual_seed(0)
model, stats = R2Plus1(), ActivationStats()
opt = torch.optim.AdamW(model.parameters(), 2e-3)
out = csv.writer(sys.stdout)
out.writerow(["step", "seconds", "loss", "acc", "stem_mean", "stem_std"])
for step, (x, y) in enumerate(batches(), 1):
    t0 = time.perf_counter()
    stats.watch(model)
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    mean, std, _ = stats.latest["stem"]
    out.writerow([step, f"{time.perf_counter() - t0:.3f}", f"{loss.item():.4f}", f"{(logits.argmax(1) == y).float().mean().item():.2f}", f"{mean:.3f}", f"{std:.3f}"])
    sys.stdout.flush()
