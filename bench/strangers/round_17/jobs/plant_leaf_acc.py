"""Leaf disease classifier on two processes (accelerate). The main process evaluates now and then."""
import signal
import time

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def leaves(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 5, (n,), generator=g)
    x = torch.randn(n, 3, 32, 32, generator=g)
    for i in range(n):
        x[i, int(y[i]) % 3, : 8 + 4 * int(y[i])] += 0.2
    flip = torch.rand(n, generator=g) < 0.08
    return TensorDataset(x, torch.where(flip, torch.randint(0, 5, (n,), generator=g), y))


def main():
    signal.alarm(310)
    accelerator = Accelerator(cpu=True)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
                          nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(256, 5))
    opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    train = DataLoader(leaves(3000, 0), batch_size=16, shuffle=True, drop_last=True)
    test = DataLoader(leaves(1200, 1), batch_size=100)
    model, opt, train = accelerator.prepare(model, opt, train)
    begin, step, stop = time.time(), 0, False
    epoch = 0
    while not stop:
        model.train()
        for x, y in train:
            loss = nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            opt.step()
            opt.zero_grad()
            step += 1
            if step % 25 == 0:
                accelerator.print(f"epoch={epoch} step={step} loss={loss.item():.4f}", flush=True)
        if epoch % 3 == 0:
            if accelerator.is_main_process:
                raw = accelerator.unwrap_model(model).eval()
                with torch.no_grad():
                    hits = sum((raw(x).argmax(1) == y).sum().item() for x, y in test)
                print(f"epoch={epoch} test accuracy={hits / 1200:.4f}", flush=True)
            accelerator.wait_for_everyone()
        epoch += 1
        done = torch.tensor([float(time.time() - begin > 185)])
        stop = accelerator.reduce(done, "sum").item() > 0
    accelerator.end_training()


main()
