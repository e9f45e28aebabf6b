"""Emulator of a climate model's fields. One update gathers the gradients of many years and takes a while."""

import argparse
import time

import torch
from torch import nn


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--years", type=int, default=44, help="years per update")
    ap.add_argument("--lat", type=int, default=48)
    ap.add_argument("--lon", type=int, default=96)
    ap.add_argument("--updates", type=int, default=400)
    return ap.parse_args()


class Periodic(nn.Module):
    """Convolution that goes around the globe in longitude."""

    def __init__(self, a, b):
        super().__init__()
        self.conv = nn.Conv2d(a, b, 5)

    def forward(self, x):
        x = nn.functional.pad(x, (2, 2, 0, 0), mode="circular")
        return self.conv(nn.functional.pad(x, (0, 0, 2, 2), mode="replicate"))


class Emulator(nn.Module):
    def __init__(self, fields=4, width=24, depth=4):
        super().__init__()
        self.enter = Periodic(fields, width)
        self.body = nn.ModuleList(Periodic(width, width) for _ in range(depth))
        self.leave = Periodic(width, fields)

    def forward(self, x):
        h = self.enter(x)
        for layer in self.body:
            h = h + nn.functional.gelu(layer(h))
        return x + self.leave(h)


def year(o, months=4):
    """States of a year and what follows: waves that travel east."""
    wave = torch.fft.rfft(torch.randn(months, 4, o.lat, o.lon))
    damp = torch.exp(-0.1 * torch.arange(wave.shape[-1]))
    state = torch.fft.irfft(wave * damp, n=o.lon)
    after = 0.9 * torch.roll(state, 2, dims=-1) + 0.1 * state.flip(1)
    return state, after + 0.05 * torch.randn(after.shape)


def main():
    o = parse()
    torch.manual_seed(10)
    model = Emulator()
    opt = torch.optim.AdamW(model.parameters(), lr=6e-4)
    for update in range(1, o.updates + 1):
        began, total = time.time(), 0.0
        opt.zero_grad()
        for _ in range(o.years):
            state, after = year(o)
            loss = (model(state) - after).square().mean() / o.years
            loss.backward()
            total += loss.item()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        print(f"update {update:3d}/{o.updates}  mse {total:.5f}  |g| {norm:.3f}  {time.time() - began:.1f} s", flush=True)
        if update % 20 == 0:
            torch.save({"model": model.state_dict(), "update": update}, "emulator.pt")


if __name__ == "__main__":
    main()
