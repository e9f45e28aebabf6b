"""fp16-style training with a dynamic scale: an overflow now and then is how the scale finds its place."""

import time

import torch
from torch import nn

torch.manual_seed(2)
net = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
opt = torch.optim.AdamW(net.parameters(), lr=5e-5)
target = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 1)).requires_grad_(False)
for p in target.parameters():
    p.mul_(2)
scale, good, skipped = 2.0**14, 0, 0
GROW_AFTER = 300
MAX_HALF = 65504.0

for it in range(1, 200000):
    x = torch.randn(256, 32)
    loss = nn.functional.mse_loss(net(x), target(x))
    opt.zero_grad()
    (loss * scale).backward()
    grads = [p.grad.clamp_(-2 * MAX_HALF, 2 * MAX_HALF) for p in net.parameters()]
    if max(float(g.abs().max()) for g in grads) > MAX_HALF:
        scale, good, skipped = scale / 2, 0, skipped + 1
    else:
        for g in grads:
            g.div_(scale)
        opt.step()
        good += 1
        if good == GROW_AFTER:
            scale, good = scale * 2, 0
    time.sleep(0.025)
    if it % 25 == 0:
        print(f"iter {it:6d} | loss {loss.item():.5f} | loss_scale {scale:.0f} | skipped so far {skipped}", flush=True)
