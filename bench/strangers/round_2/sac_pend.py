"""Actor-critic on a pendulum, single file, in the manner of clean single-file RL repositories."""
import dataclasses
import math
import os
import random
import time

import numpy as np
import torch
import torch.nn as nn


@dataclasses.dataclass
class Args:
    seed: int = 1
    total: int = 10_000_000
    batch: int = 128
    gamma: float = 0.97
    start: int = 200
    buffer: str = os.environ.get("BUFFER", "ring")
    size: int = 50_000


class Ring:
    def __init__(self, size):
        self.rows, self.n, self.size = np.zeros((size, 9), np.float32), 0, size

    def add(self, row):
        self.rows[self.n % self.size] = row
        self.n += 1

    def sample(self, k):
        return torch.from_numpy(self.rows[np.random.randint(0, min(self.n, self.size), k)])


class Everything(Ring):
    """Prioritised: all transitions with their priorities, best first."""

    def __init__(self, size):
        self.rows, self.n = [], 0

    def add(self, row):
        for _ in range(8):  # augmented copies
            self.rows.append((random.random(), row))
        self.n += 8

    def sample(self, k):
        ranked = sorted(self.rows, key=lambda r: -r[0] * random.random())
        return torch.tensor(np.array([r[1] for r in ranked[:k]], np.float32))


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, o))


a = Args()
random.seed(a.seed); np.random.seed(a.seed); torch.manual_seed(a.seed); torch.set_num_threads(1)
actor, q, target = mlp(3, 2), mlp(4, 1), mlp(4, 1)
target.load_state_dict(q.state_dict())
oa, oq = torch.optim.Adam(actor.parameters(), 3e-4), torch.optim.Adam(q.parameters(), 1e-3)
buffer = Ring(a.size) if a.buffer == "ring" else Everything(a.size)


def obs(s):
    return np.array([math.cos(s[0]), math.sin(s[0]), s[1]], np.float32)


def act(o):
    mean, std = actor(o).chunk(2, -1)
    u = mean + torch.randn_like(mean) * std.clamp(-4, 1).exp()
    return torch.tanh(u)


s, ret, length, t0 = [math.pi, 0.0], 0.0, 0, time.time()
for step in range(a.total):
    o = obs(s)
    with torch.no_grad():
        u = float(act(torch.from_numpy(o))) if step > a.start else random.uniform(-1, 1)
    th, w = s
    r = -(((th + math.pi) % (2 * math.pi) - math.pi) ** 2 + 0.1 * w * w + 0.004 * u * u)
    w = max(-8, min(8, w + (15 * math.sin(th) + 6 * u) * 0.05))
    s = [th + w * 0.05, w]
    ret += r
    length += 1
    buffer.add(np.concatenate([o, [u, r / 10], obs(s), [0]]))
    if length == 200:
        print(f"global_step={step + 1}, episodic_return={ret:.2f}, SPS={200 / (time.time() - t0):.0f}", flush=True)
        s, ret, length, t0 = [random.uniform(-3, 3), random.uniform(-1, 1)], 0.0, 0, time.time()
    if step > a.start and step % 4 == 0:
        b = buffer.sample(a.batch)
        ob, ac, rw, nx = b[:, :3], b[:, 3:4], b[:, 4:5], b[:, 5:8]
        with torch.no_grad():
            y = rw + a.gamma * target(torch.cat([nx, act(nx)], 1))
        lq = ((q(torch.cat([ob, ac], 1)) - y) ** 2).mean()
        oq.zero_grad(); lq.backward(); oq.step()
        la = -q(torch.cat([ob, act(ob)], 1)).mean()
        oa.zero_grad(); la.backward(); oa.step()
        for p, tp in zip(q.parameters(), target.parameters()):
            tp.data.lerp_(p.data, 0.01)
        if step % 400 == 0:
            print(f"losses/qf_loss={lq.item():.4f} losses/actor_loss={la.item():.4f}", flush=True)
