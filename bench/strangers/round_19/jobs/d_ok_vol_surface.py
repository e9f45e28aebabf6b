"""Implied volatilities in half precision with dynamic loss scaling; semicolon-separated log."""
import time

import torch
from torch import nn


def options(n, gen):
    k = torch.rand(n, 1, generator=gen) * 2 - 1
    t = torch.rand(n, 1, generator=gen) * 2 + 0.1
    r = torch.randn(n, 6, generator=gen)
    vol = 0.2 + 0.1 * k**2 / t.sqrt() - 0.05 * k + 0.03 * r[:, :1] * k + 0.02 * torch.randn(n, 1, generator=gen)
    return torch.cat([k, t, r], 1), vol


def main():
    torch.manual_seed(2)
    gen = torch.Generator().manual_seed(2)
    net = nn.Sequential(nn.Linear(8, 512), nn.SiLU(), nn.Linear(512, 512), nn.SiLU(), nn.Linear(512, 1))
    opt = torch.optim.Adam(net.parameters(), 5e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 600, 1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**19, growth_interval=150)
    print("step;mse;lr;scale;options_s")
    step, since = 0, time.time()
    begun = since
    while time.time() - begun < 700:
        x, y = options(768, gen)
        opt.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            out = net(x)
        loss = nn.functional.mse_loss(out.float() * 10, y * 10)
        scaler.scale(loss).backward()
        before = scaler.get_scale()
        scaler.step(opt)
        scaler.update()
        if scaler.get_scale() < before:
            print(f"# step {step}: overflow, scale {before:.0f} -> {scaler.get_scale():.0f}, update skipped")
        sched.step()
        step += 1
        if step % 20 == 0:
            now = time.time()
            print(f"{step};{loss.item():.5f};{sched.get_last_lr()[0]:.2e};{scaler.get_scale():.0f};"
                  f"{20 * 768 / (now - since):.0f}")
            since = now


if __name__ == "__main__":
    main()
