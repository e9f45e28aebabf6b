"""Autoencoder with a full trace of every weight, for the paper's figures."""

import logging
import logging.handlers
import time

import torch
from torch import nn

trace = logging.getLogger("trace")
trace.propagate = False
trace.setLevel(logging.DEBUG)
handler = logging.handlers.RotatingFileHandler("trace.log", maxBytes=3_000_000, backupCount=1)
handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(message)s"))
trace.addHandler(handler)

net = nn.Sequential(nn.Linear(64, 96), nn.Tanh(), nn.Linear(96, 16), nn.Tanh(), nn.Linear(16, 64))
opt = torch.optim.Adam(net.parameters(), lr=1e-4)
basis = torch.randn(8, 64)
start = time.time()
for step in range(1, 10**6):
    x = torch.randn(256, 8) @ basis
    loss = (net(x) - x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for name, p in net.named_parameters():
        for row, (values, grads) in enumerate(
            zip(p.view(len(p), -1).tolist(), p.grad.view(len(p), -1).tolist(), strict=True)
        ):
            trace.debug(
                "step=%d %s[%d] value=%s grad=%s",
                step,
                name,
                row,
                " ".join(f"{v:.6e}" for v in values),
                " ".join(f"{g:.6e}" for g in grads),
            )
    if step % 10 == 0:
        print(f"{step} steps, recon {loss.item():.5f}, {step / (time.time() - start):.2f} steps/s")
