"""Half-precision-style training of a regression net with a hand-written dynamic loss scale."""

import os
import sys
import time

import torch
from torch import nn

torch.set_num_threads(1)
UNITS = float(os.environ.get("TARGET_UNITS", "1"))
START = int(os.environ.get("NEW_TABLE_AT", "60"))


class DynamicScale:
    def __init__(self):
        self.scale, self.good = 2.0**16, 0

    def update(self, finite):
        if finite:
            self.good += 1
            if self.good == 200:
                self.scale, self.good = self.scale * 2, 0
        else:
            self.scale, self.good = max(self.scale / 2, 2.0**-20), 0
            print(f"Gradient overflow. Skipping step, reducing loss scale to {self.scale}", flush=True)


def main():
    net = nn.Sequential(nn.Linear(40, 128), nn.ReLU(), nn.Linear(128, 1))
    opt = torch.optim.SGD(net.parameters(), 1e-3)
    scaler = DynamicScale()
    for step in range(1, 1_000_000):
        x = torch.randn(64, 40)
        y = x[:, :4].sum(1, keepdim=True)
        if step > START:
            y = y * UNITS
        loss = (net(x) - y).half().square().mean()
        opt.zero_grad()
        (loss * scaler.scale if scaler.scale < 60000 else loss.float() * scaler.scale).backward()
        grads = [p.grad.half().float() for p in net.parameters()]
        finite = all(torch.isfinite(g).all() for g in grads)
        if finite:
            for p, g in zip(net.parameters(), grads, strict=True):
                p.grad = g / scaler.scale
            opt.step()
        scaler.update(finite)
        time.sleep(0.08)
        if step % 5 == 0:
            print(f"step {step} mae {(net(x) - y).abs().mean().item():.4f} scale {scaler.scale:g}", file=sys.stderr)


if __name__ == "__main__":
    main()
