"""Landing-pad detector for drones; a heartbeat line is printed by timer, whatever the trainer does."""
import collections
import signal
import threading
import time

import torch
from torch import nn


class Meter:
    def __init__(self, keep=60000):
        self.lock = threading.Lock()
        self.values = collections.deque(maxlen=keep)
        self.quantiles = (0.0, 0.0, 0.0)

    def update(self, values):
        with self.lock:
            self.values.extend(values)
            ordered = sorted(self.values)
            self.quantiles = tuple(ordered[int(q * len(ordered))] for q in (0.1, 0.5, 0.9))

    def snapshot(self):
        with self.lock:
            return len(self.values), *self.quantiles


meter, started = Meter(), time.time()


def heartbeat(signum, frame):
    n, low, mid, high = meter.snapshot()
    print(f"[{time.time() - started:7.1f}s] heartbeat n={n} pixel error p10={low:.3f} p50={mid:.3f} p90={high:.3f}")


def scene(n):
    pad = torch.rand(n, 2) * 40 + 12
    yy, xx = torch.meshgrid(torch.arange(64.), torch.arange(64.), indexing="ij")
    d = (yy[None] - pad[:, :1, None]).pow(2) + (xx[None] - pad[:, 1:, None]).pow(2)
    return (torch.exp(-d / 60) + 0.4 * torch.randn(n, 64, 64))[:, None], pad / 64


net = nn.Sequential(nn.Conv2d(1, 8, 5, 2, 2), nn.ReLU(), nn.Conv2d(8, 16, 5, 2, 2), nn.ReLU(), nn.Flatten(),
                    nn.Linear(4096, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters(), 3e-4)
signal.signal(signal.SIGALRM, heartbeat)
signal.setitimer(signal.ITIMER_REAL, 1.5, 1.5)
for step in range(1, 200_000):
    x, pad = scene(48)
    net_out = net(x)
    miss = (net_out - pad).norm(dim=1)
    opt.zero_grad()
    miss.mean().backward()
    opt.step()
    meter.update((net_out - pad).detach().abs().flatten().tolist())
    if step % 25 == 0:
        print(f"[{time.time() - started:7.1f}s] step {step} mean miss {miss.mean().item():.4f}")
