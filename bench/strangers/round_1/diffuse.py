"""Tiny DDPM on 2-D swiss roll, DDP. Progress bar on rank 0, everything else in logs/rankN.txt."""
import ctypes
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from tqdm import tqdm

dist.init_process_group("gloo")
R = int(os.environ["RANK"])
os.makedirs("logs", exist_ok=True)
logf = open(f"logs/rank{R}.txt", "a", buffering=1)
T = 200
betas = torch.linspace(1e-4, 0.02, T)
abar = torch.cumprod(1 - betas, 0)


class Eps(nn.Module):
    def __init__(self, h=256):
        super().__init__()
        self.t = nn.Embedding(T, h)
        self.i, self.o = nn.Linear(2, h), nn.Linear(h, 2)
        self.b = nn.ModuleList(nn.Sequential(nn.LayerNorm(h), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, h)) for _ in range(4))

    def forward(self, x, t):
        h = self.i(x) + self.t(t)
        for b in self.b:
            h = h + b(h)
        return self.o(h)


def roll(n):
    a = 1.5 * torch.pi * (1 + 2 * torch.rand(n))
    return torch.stack([a * a.cos(), a * a.sin()], 1) / 7 + 0.03 * torch.randn(n, 2)


model = Eps()
ddp = nn.parallel.DistributedDataParallel(model)
ema = {k: v.clone() for k, v in model.state_dict().items()}
opt = torch.optim.Adam(ddp.parameters(), 3e-4)
crash_at = float(os.environ.get("AUGMENT_C_AFTER", "inf"))  # seconds until the compiled augmentation is switched on
start = time.monotonic()
bar = tqdm(range(200_000), disable=R != 0, mininterval=1.0, dynamic_ncols=True)
for step in bar:
    x0 = roll(256)
    if R == 1 and time.monotonic() - start > crash_at:
        ctypes.string_at(8)  # the extension gets a bad pointer
    t = torch.randint(0, T, (256,))
    e = torch.randn_like(x0)
    xt = abar[t, None].sqrt() * x0 + (1 - abar[t, None]).sqrt() * e
    loss = ((ddp(xt, t) - e) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for k, v in model.state_dict().items():
            ema[k].lerp_(v, 0.001)
    if step % 10 == 0:
        bar.set_postfix(loss=f"{loss.item():.4f}")
        logf.write(f"{time.strftime('%H:%M:%S')} it {step} mse {loss.item():.5f}\n")
