"""Undersampled MRI reconstruction, mixed precision. Stage 1: complex L1. Stage 2: magnitude images inside the coil mask."""
import time

import numpy as np
import torch
from torch import nn

N, BATCH = 64, 4


def phantom(rng):
    yy, xx = np.mgrid[-1 : 1 : N * 1j, -1 : 1 : N * 1j]
    img = np.zeros((N, N), np.complex64)
    for _ in range(7):
        cx, cy = rng.uniform(-0.45, 0.45, 2)
        a, b, th = rng.uniform(0.1, 0.4), rng.uniform(0.1, 0.4), rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
        v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
        img[(u / a) ** 2 + (v / b) ** 2 < 1] += rng.uniform(0.1, 0.5) * np.exp(1j * rng.uniform(-0.5, 0.5))
    return img


def batch(rng):
    full = np.stack([phantom(rng) for _ in range(BATCH)])
    k = np.fft.fftshift(np.fft.fft2(full), axes=(-2, -1))
    keep = rng.random(N) < 0.35
    keep[N // 2 - 6 : N // 2 + 6] = True
    zf = np.fft.ifft2(np.fft.ifftshift(k * keep, axes=(-2, -1)))
    two = lambda z: torch.from_numpy(np.stack([z.real, z.imag], 1).astype(np.float32))
    return two(zf), two(full)


class Cascade(nn.Module):
    def __init__(self, c=10):
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(2, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, 2, 3, padding=1))
            for _ in range(2)
        )

    def forward(self, x):
        for b in self.blocks:
            x = x + b(x)
        return x


def magnitude(z):
    return torch.sqrt(z[:, 0] ** 2 + z[:, 1] ** 2)


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    yy, xx = np.mgrid[-1 : 1 : N * 1j, -1 : 1 : N * 1j]
    coil = torch.from_numpy((xx**2 + yy**2 < 0.85).astype(np.float32))
    net = Cascade()
    opt = torch.optim.Adam(net.parameters(), lr=5e-4)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**15)
    print("iter   stage  l1        scale        s/it")
    for it in range(20_000):
        t0 = time.perf_counter()
        x, target = batch(rng)
        stage = 1 if it < 15 else 2
        if it == 15:
            print("-- stage 2: magnitude loss inside the coil mask --")
        with torch.autocast("cpu", dtype=torch.float16):
            pred = net(x)
        pred = pred.float() * coil
        target = target * coil
        if stage == 1:
            loss = (pred - target).abs().mean()
        else:
            loss = (magnitude(pred) - magnitude(target)).abs().mean()
        opt.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        print(f"{it:5d}  {stage}      {loss.item():.5f}   {scaler.get_scale():<11.5g}  {time.perf_counter() - t0:.2f}")


if __name__ == "__main__":
    main()
