"""Leaf disease classifier (5 classes) with accelerate."""
import time

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def leaves(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 5, (n,), generator=g)
    x = torch.randn(n, 3, 32, 32, generator=g)
    x[torch.arange(n), y % 3] += 0.4 * (y.float().view(-1, 1, 1) - 2)
    return TensorDataset(x, y)


def build():
    def block(a, b):
        return nn.Sequential(nn.Conv2d(a, b, 3, padding=1, stride=2), nn.BatchNorm2d(b), nn.ReLU())

    return nn.Sequential(block(3, 24), block(24, 48), block(48, 64), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 5))


def evaluate(accelerator, model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for x, y in loader:
            pred = accelerator.unwrap_model(model)(x).argmax(-1)
            pred, y = accelerator.gather_for_metrics((pred, y))
            right += (pred == y).sum().item()
            total += len(y)
    model.train()
    return right / total


def main():
    accelerator = Accelerator(cpu=True)
    set_seed(11)
    model = build()
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    train = DataLoader(leaves(6400, 1), batch_size=32, shuffle=True)
    val = DataLoader(leaves(800, 2), batch_size=50)
    model, opt, train, val = accelerator.prepare(model, opt, train, val)
    lossf = nn.CrossEntropyLoss()
    step = 0
    best = 0.0
    for epoch in range(1000):
        t = time.time()
        for x, y in train:
            opt.zero_grad()
            loss = lossf(model(x), y)
            accelerator.backward(loss)
            opt.step()
            step += 1
            if step % 20 == 0:
                accelerator.print(f"ep {epoch:03d} | it {step:06d} | loss {loss.item():.4f} | {step * 32 * accelerator.num_processes} imgs")
        accelerator.print(f"epoch {epoch} took {time.time() - t:.1f}s")
        if epoch >= 3 and accelerator.is_local_main_process:
            print(f"[val] evaluating after epoch {epoch} ...")
            acc = evaluate(accelerator, model, val)
            best = max(best, acc)
            print(f"[val] acc {acc:.3f} best {best:.3f}")


if __name__ == "__main__":
    main()
