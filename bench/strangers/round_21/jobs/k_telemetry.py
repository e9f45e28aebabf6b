"""Residual dynamics of a quadrotor, learned from MAVLink black-box logs that are replayed while training runs."""
import collections
import os
import random
import struct
import threading
import time

import torch
from torch import nn

FRAME = struct.Struct("<BBBBB16f")
WINDOW = 8


def x25(data, crc=0xFFFF):
    for byte in data:
        tmp = byte ^ (crc & 0xFF)
        tmp = (tmp ^ (tmp << 4)) & 0xFF
        crc = (crc >> 8) ^ (tmp << 8) ^ (tmp << 3) ^ (tmp >> 4)
    return crc & 0xFFFF


def record_flight(path, frames, seed):
    rng = random.Random(seed)
    state = [rng.gauss(0, 1) for _ in range(12)]
    with open(path, "wb") as log:
        for k in range(frames):
            motor = [rng.random() for _ in range(4)]
            state = [0.97 * s + 0.05 * motor[i % 4] * state[(i + 3) % 12] + 0.02 * rng.gauss(0, 1)
                     for i, s in enumerate(state)]
            body = FRAME.pack(0xFD, 64, k & 0xFF, 1, 30, *state, *motor)
            log.write(body + struct.pack("<H", x25(body)))


class Replay:
    def __init__(self, flights):
        self.flights = flights
        self.windows = collections.deque(maxlen=4000)
        self.frames = 0

    def decode(self, path):
        size = FRAME.size + 2
        with open(path, "rb") as log:
            raw = log.read()
        recent = collections.deque(maxlen=WINDOW + 1)
        for at in range(0, len(raw), size):
            body = raw[at:at + FRAME.size]
            (crc,) = struct.unpack_from("<H", raw, at + FRAME.size)
            if x25(body) != crc:
                continue
            recent.append(FRAME.unpack(body)[5:])
            self.frames += 1
            if len(recent) == WINDOW + 1:
                self.windows.append((list(recent)[:-1], recent[-1][:12]))

    def run(self, mine):
        while True:
            random.shuffle(mine)
            for path in mine:
                self.decode(path)

    def start(self, threads):
        for i in range(threads):
            threading.Thread(target=self.run, args=(self.flights[i::threads],), name=f"mavlog-{i}",
                             daemon=True).start()

    def batch(self, n):
        rows = [self.windows[random.randrange(len(self.windows))] for _ in range(n)]
        return torch.tensor([r[0] for r in rows]), torch.tensor([r[1] for r in rows])


class Dynamics(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(16, 64)
        self.out = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 12))

    def forward(self, x):
        h = x.new_zeros(x.shape[0], 64)
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h)
        return x[:, -1, :12] + self.out(h)


def main():
    os.makedirs("flights", exist_ok=True)
    flights = []
    for k in range(8):
        flights.append(f"flights/f{k:03d}.bin")
        record_flight(flights[-1], 2500, k)
    net = Dynamics()
    opt = torch.optim.Adam(net.parameters(), 5e-4)
    replay = Replay(flights)
    replay.start(4)
    while len(replay.windows) < 500:
        time.sleep(0.1)
    mean, began = None, time.monotonic()
    for step in range(1, 1_000_000):
        x, y = replay.batch(32)
        loss = (net(x) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        mean = loss.item() if mean is None else 0.98 * mean + 0.02 * loss.item()
        if step % 10 == 0:
            rate = 10 / (time.monotonic() - began)
            began = time.monotonic()
            print(f"[dyn] it={step} mse={mean:.5f} it/s={rate:.1f} frames={replay.frames}")


main()
