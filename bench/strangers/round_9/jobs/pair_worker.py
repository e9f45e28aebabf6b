"""One rank of the denoiser. Reads its settings as one line of JSON from stdin."""

import json
import sys
import types
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn


def say(text):
    if dist.get_rank() == 0:
        print(text, flush=True)


def confirm(question):
    print(f"{question} [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


class Denoiser(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        chans = [1] + [width // 4] * depth
        self.down = nn.ModuleList(nn.Conv1d(a, b, 9, padding=4) for a, b in zip(chans, chans[1:]))
        self.out = nn.Conv1d(chans[-1], 1, 1)

    def forward(self, x):
        for conv in self.down:
            x = torch.relu(conv(x))
        return self.out(x)


def signal(n, gen):
    t = torch.linspace(0, 1, 512)
    freq = 1 + 12 * torch.rand(n, 3, 1, generator=gen)
    phase = 6.28 * torch.rand(n, 3, 1, generator=gen)
    return torch.sin(6.28 * freq * t + phase).mean(1, keepdim=True)


def save(model, path):
    """Never lose an older result without asking."""
    if path.exists() and not confirm(f"{path} exists, overwrite?"):
        path = path.with_stem(path.stem + "_new")
    torch.save(model.state_dict(), path)
    say(f"saved {path}")


def main():
    cfg = types.SimpleNamespace(**json.loads(sys.stdin.readline()))
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    out = Path(cfg.out)
    if rank == 0:
        out.mkdir(parents=True, exist_ok=True)
    gen = torch.Generator().manual_seed(rank)
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(Denoiser(cfg.width, cfg.depth))
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    best = float("inf")
    window = []
    for it in range(1, 10**6):
        clean = signal(12, gen)
        noisy = clean + cfg.noise * torch.randn(clean.shape, generator=gen)
        loss = (model(noisy) - clean).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        window.append(loss.item())
        if it % 10 == 0:
            say(f"it {it:5d}  mse {sum(window[-10:]) / 10:.5f}")
        if it % cfg.save_every == 0:
            mean = sum(window[-cfg.save_every :]) / cfg.save_every
            if rank == 0 and mean < best:
                save(model.module, out / "best.pt")
            best = min(best, mean)


main()
