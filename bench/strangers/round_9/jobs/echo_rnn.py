"""Echo task with a plain RNN: repeat the input of `lag` steps ago. Sequences get longer by and by."""

import configparser
import io
import time

import torch
from torch import nn

SETTINGS = """
[task]
lag = 5
shortest = 24
longer_every = 8
batch = 32
volume_from = 240
volume_spread = 0.08
[net]
hidden = 128
gain = 1.4
[optim]
lr = 0.002
warmup = 100
"""


def settings():
    cp = configparser.ConfigParser()
    cp.read_file(io.StringIO(SETTINGS))
    return cp


class EchoRNN(nn.Module):
    def __init__(self, hidden, gain):
        super().__init__()
        self.cell = nn.RNN(1, hidden, nonlinearity="relu", batch_first=True)
        nn.init.orthogonal_(self.cell.weight_hh_l0, gain)
        self.read = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.read(self.cell(x)[0])


class Volume:
    """Augmentation: the input is made louder or softer, at random, after the first `begin` iterations."""

    def __init__(self, begin, spread):
        self.begin, self.spread, self.gain = begin, spread, 1.0

    def __call__(self, x, it):
        if it > self.begin:
            self.gain *= 1 + self.spread * (torch.rand(1).item() - 0.3)
        return self.gain * x


def grad_norm(model):
    return torch.stack([p.grad.norm() for p in model.parameters()]).norm().item()


def main():
    cfg = settings()
    lag, shortest, every = (cfg.getint("task", key) for key in ("lag", "shortest", "longer_every"))
    torch.manual_seed(0)
    model = EchoRNN(cfg.getint("net", "hidden"), cfg.getfloat("net", "gain"))
    opt = torch.optim.SGD(model.parameters(), lr=cfg.getfloat("optim", "lr"))
    warmup = cfg.getint("optim", "warmup")
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda n: min(1.0, (n + 1) / warmup))
    volume = Volume(cfg.getint("task", "volume_from"), cfg.getfloat("task", "volume_spread"))
    for it in range(1, 500_000):
        length = shortest + it // every
        x = volume(torch.randn(cfg.getint("task", "batch"), length, 1), it)
        y = torch.roll(x, lag, dims=1)
        loss = (model(x) - y)[:, lag:].square().mean()
        opt.zero_grad()
        loss.backward()
        norm = grad_norm(model)
        opt.step()
        sched.step()
        time.sleep(0.05)
        if it % 10 == 0:
            print(f"iter {it:6d} | length {length} | loss {loss.item():.5g} | grad norm {norm:.4g} | lr {sched.get_last_lr()[0]:.2e}", flush=True)


if __name__ == "__main__":
    main()
