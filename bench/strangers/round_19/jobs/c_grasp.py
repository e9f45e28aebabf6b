"""Grasp quality from simulated pushes. Two simulators write to a ring in shared memory, the learner draws from it."""
import ctypes
import multiprocessing as mp
import os
import threading
import time

import numpy as np
import torch
from torch import nn

SLOTS, OBS = 4096, 24


class Ring:
    def __init__(self):
        self.guard = mp.Lock()
        self.head = mp.Value(ctypes.c_long, 0, lock=False)
        self.data = mp.Array(ctypes.c_float, SLOTS * (OBS + 1), lock=False)

    @property
    def table(self):
        return np.frombuffer(self.data, dtype=np.float32).reshape(SLOTS, OBS + 1)


class Watchdog(threading.Thread):
    """Simulations may run away. Ends the process if one push takes longer than `limit` seconds."""

    def __init__(self, limit):
        super().__init__(daemon=True)
        self.limit, self.fed = limit, time.monotonic()
        self.start()

    def run(self):
        while time.monotonic() - self.fed < self.limit:
            time.sleep(0.2)
        os._exit(0)


def push(rng, contacts):
    pose = rng.normal(size=OBS).astype("f4")
    for _ in range(contacts):
        pose = pose + 0.01 * np.tanh(pose[::-1])
        time.sleep(0.002)
    return pose, float(pose[:6].sum() > 0)


def simulator(ring, seed):
    rng = np.random.default_rng(seed)
    dog = Watchdog(2.0)
    done = 0
    while True:
        dog.fed = time.monotonic()
        clutter = 1 + done // 600
        contacts = 3 if clutter < 2 or seed == 1 else 1500
        with ring.guard:
            slot = ring.head.value % SLOTS
            pose, held = push(rng, contacts)
            ring.table[slot, :OBS], ring.table[slot, OBS] = pose, held
            ring.head.value += 1
        done += 1
        time.sleep(0.012)


def learn(ring):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(OBS, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
    opt = torch.optim.Adam(net.parameters(), 5e-4)
    rng = np.random.default_rng(9)
    started = time.time()
    for update in range(1, 100_000):
        with ring.guard:
            n = min(ring.head.value, SLOTS)
            rows = torch.from_numpy(ring.table[rng.integers(0, n, 256)].copy())
        for part in rows.split(32):
            loss = nn.functional.binary_cross_entropy_with_logits(net(part[:, :OBS])[:, 0], part[:, OBS])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if update % 25 == 0:
            print(f"{time.time() - started:7.1f}s  update={update}  pushes={ring.head.value}  bce={loss.item():.4f}", flush=True)


if __name__ == "__main__":
    mp.set_start_method("fork")
    ring = Ring()
    sims = [mp.Process(target=simulator, args=(ring, s), daemon=True, name=f"sim-{s}") for s in (1, 2)]
    for s in sims:
        s.start()
    time.sleep(2)
    learn(ring)
