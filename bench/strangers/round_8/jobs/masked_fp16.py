"""Masked sequence model in emulated half precision; metrics go to metrics.jsonl, warnings to stderr."""

import json
import sys
import time

import torch
from torch import nn

torch.manual_seed(0)
emb = nn.Embedding(100, 32)
enc = nn.TransformerEncoderLayer(32, 2, 64, batch_first=True, dropout=0.0)
head = nn.Linear(32, 100)
params = [*emb.parameters(), *enc.parameters(), *head.parameters()]
opt = torch.optim.AdamW(params, lr=5e-4)
scale, streak = 65536.0, 0
metrics = open("metrics.jsonl", "w", buffering=1)  # noqa: SIM115


def half(t):
    return t.half().float()


for step in range(1, 10**6):
    ids = (torch.randint(0, 100, (16, 1)) + torch.arange(20)) % 100
    hidden = enc(emb(ids))
    logits = half(head(hidden))
    loss = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    (loss * scale).backward(retain_graph=True)
    if step > 60:  # the new regulariser on the pooled state: its derivative is infinite where the pool is zero
        pooled = (hidden - hidden.detach()).sum().abs().sqrt()
        (pooled * scale).backward()
    finite = all(bool(torch.isfinite(half(p.grad)).all()) for p in params)
    if finite:
        for p in params:
            p.grad.div_(scale)
        opt.step()
        streak += 1
        if streak == 500:
            scale, streak = min(scale * 2, 65536.0), 0
    else:
        new = max(scale / 2, 2.0**-24)
        print(
            f"WARNING: overflow in gradients at step {step}, update skipped, scale {scale:g} -> {new:g}",
            file=sys.stderr,
        )
        scale, streak = new, 0
    metrics.write(json.dumps({"step": step, "train/loss": round(loss.item(), 5), "train/loss_scale": scale}) + "\n")
    time.sleep(0.12)
