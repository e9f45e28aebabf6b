"""Residuals of orbit propagation; a record of the run is kept in orbit.log."""
import logging, os
import logging.handlers
import numpy as np
import torch
from torch import nn


class Kept(logging.handlers.RotatingFileHandler):
    def emit(self, record):
        super().emit(record)
        os.fsync(self.stream.fileno())


np.set_printoptions(threshold=20000, precision=6, linewidth=160)
log = logging.getLogger("orbit")
log.setLevel(logging.DEBUG)
kept = Kept("orbit.log", maxBytes=8_000_000, backupCount=1)
kept.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
log.addHandler(kept)
screen = logging.StreamHandler()
screen.setLevel(logging.INFO)
screen.setFormatter(logging.Formatter("%(asctime)s - %(message)s"))
log.addHandler(screen)

torch.manual_seed(9)
net = nn.Sequential(nn.Linear(6, 96), nn.Tanh(), nn.Linear(96, 96), nn.Tanh(), nn.Linear(96, 3))
opt = torch.optim.Adam(net.parameters(), 1e-3)
for step in range(1, 1000000):
    state = torch.randn(4096, 6)
    truth = torch.stack([(state[:, 0] * state[:, 3]).sin(), state[:, 1] - state[:, 4], (state[:, 2] + state[:, 5]).cos()], 1)
    loss = (net(state) - truth).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for name, p in net.named_parameters():
        log.debug("step %d %s\n%s", step, name, p.detach().numpy())
        log.debug("step %d grad of %s\n%s", step, name, p.grad.numpy())
    if step % 5 == 0:
        log.info("step %d residual %.5f km", step, loss.item())
