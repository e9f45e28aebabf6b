"""Backbone angles of proteins from residue windows; keeps a verified copy of model and optimizer."""
import gzip
import hashlib
import io
import json
import os
import sys
import time

import torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Embedding(22, 128), nn.Flatten(), nn.Linear(128 * 21, 900), nn.SiLU(), nn.Linear(900, 900),
                    nn.SiLU(), nn.Linear(900, 4))
opt = torch.optim.AdamW(net.parameters(), 2e-4)
table = torch.randn(22, 4)


def store(step):
    begun = time.time()
    buffer = io.BytesIO()
    torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "step": step}, buffer)
    packed = gzip.compress(buffer.getvalue(), 6)
    with open("backbone.ckpt.gz.tmp", "wb") as f:
        f.write(packed)
        os.fsync(f.fileno())
    with open("backbone.ckpt.gz.tmp", "rb") as f:
        digest = hashlib.sha256(gzip.decompress(f.read())).hexdigest()
    os.replace("backbone.ckpt.gz.tmp", "backbone.ckpt.gz")
    print(json.dumps({"t": round(time.time(), 2), "event": "checkpoint", "step": step, "sha": digest[:12],
                      "took_s": round(time.time() - begun, 2)}), file=sys.stderr)


for step in range(1, 10**6):
    aa = torch.randint(0, 22, (192, 21))
    target = torch.sin(table[aa[:, 10]] + 0.3 * table[aa[:, 9]])
    loss = nn.functional.mse_loss(net(aa), target)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print(json.dumps({"t": round(time.time(), 2), "event": "train", "step": step, "angle_mse": round(loss.item(), 5)}),
              file=sys.stderr)
    if step % 30 == 0:
        store(step)
