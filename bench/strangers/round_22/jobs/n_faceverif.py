"""Verification embeddings: classification first, then with the pairwise margin term. fp16 autocast."""
import json
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)
CLASSES, DIM = 40, 128
protos = torch.randn(CLASSES, DIM)


def batch(n=512):
    y = torch.randint(0, CLASSES, (n,))
    return protos[y] + 1.6 * torch.randn(n, DIM), y


def margin(z, y):
    d = (z[:, None] - z[None]).float().pow(2).sum(-1).sqrt()
    same = (y[:, None] == y[None]).float()
    return (same * d + (1 - same) * F.relu(4.0 - d)).mean()


body = nn.Sequential(nn.Linear(DIM, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 64))
head = nn.Linear(64, CLASSES)
params = [*body.parameters(), *head.parameters()]
opt = torch.optim.AdamW(params, 2e-4)
scale, good, skips = 2.0 ** 16, 0, 0
t0 = time.time()
for step in range(1, 200000):
    x, y = batch()
    with torch.autocast("cpu", dtype=torch.float16):
        z = body(x)
        logits = head(z)
    loss = F.cross_entropy(logits.float(), y)
    if step > 150:
        loss = loss + 0.5 * margin(z, y)
    opt.zero_grad(set_to_none=True)
    (loss * scale).backward()
    with torch.no_grad():
        norm = torch.stack([p.grad.norm() for p in params]).norm() / scale
    if torch.isfinite(norm):
        for p in params:
            p.grad.div_(scale)
        opt.step()
        good += 1
        if good % 500 == 0:
            scale = min(scale * 2, 2.0 ** 24)
    else:
        skips, good, old = skips + 1, 0, scale
        scale = max(scale / 2, 1.0)
        print(f"[scaler] step {step}: overflow, update skipped. Loss scale {old:g} -> {scale:g}", file=sys.stderr)
    if step % 10 == 0:
        print(json.dumps({"step": step, "loss": round(loss.item(), 4), "loss_scale": scale,
                          "skipped": skips, "t": round(time.time() - t0, 1)}), flush=True)
