"""Next-frame prediction; a decoder process hands over a fresh bank of clips every few hundred steps."""
import multiprocessing as mp
import time

import numpy as np
import torch
from torch import nn

CLIPS, T, S = 500, 12, 48


def decode(seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:S, 0:S]
    bank = np.empty((CLIPS, T, S, S), np.float32)
    for k in range(CLIPS):
        pos, vel = rng.uniform(8, S - 8, 2), rng.uniform(-2, 2, 2)
        for t in range(T):
            pos = pos + vel
            vel = np.where((pos < 6) | (pos > S - 6), -vel, vel)
            bank[k, t] = np.exp(-((yy - pos[0]) ** 2 + (xx - pos[1]) ** 2) / 18)
        bank[k] += rng.normal(size=(T, S, S)).astype(np.float32) * 0.03
    return bank


def decoder(requests, banks):
    while True:
        banks.put(decode(requests.get()))


def main():
    torch.manual_seed(0)
    requests, banks = mp.Queue(), mp.Queue(1)
    mp.Process(target=decoder, args=(requests, banks), daemon=True).start()
    requests.put(0)
    net = nn.Sequential(nn.Conv2d(4, 24, 5, 1, 2), nn.ReLU(), nn.Conv2d(24, 24, 3, 1, 1), nn.ReLU(), nn.Conv2d(24, 1, 3, 1, 1))
    opt = torch.optim.Adam(net.parameters(), 1e-4)
    rng = np.random.default_rng(1)
    step = 0
    for number in range(1, 10_000):
        bank = banks.get()
        requests.put(number)
        print(f"-- bank {number}: {bank.nbytes / 1e6:.0f} MB of clips", flush=True)
        for _ in range(300):
            k = rng.integers(0, CLIPS, 8)
            t = rng.integers(0, T - 4, 8)
            clip = torch.from_numpy(np.stack([bank[a, b:b + 5] for a, b in zip(k, t)]))
            loss = nn.functional.mse_loss(net(clip[:, :4]), clip[:, 4:])
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % 25 == 0:
                psnr = -10 * np.log10(loss.item())
                print(f"step {step} mse {loss.item():.5f} psnr {psnr:.2f} dB", flush=True)
        if number % 2 == 0:
            torch.save({"net": net.state_dict(), "opt": opt.state_dict()}, "predictor.pt")


if __name__ == "__main__":
    main()
