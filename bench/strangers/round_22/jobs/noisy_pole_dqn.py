# small DQN with a replay memory that survives restarts
import collections
import os
import random
import time

import gymnasium as gym
import joblib
import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0), random.seed(0), np.random.seed(0)


class Memory:
    def __init__(self, size, stack, dim):
        self.s = np.zeros((size, stack * dim), np.float32)
        self.s2 = np.zeros((size, stack * dim), np.float32)
        self.a = np.zeros(size, np.int64)
        self.r = np.zeros(size, np.float32)
        self.d = np.zeros(size, np.float32)
        self.n = self.i = 0
        self.size = size

    def add(self, s, a, r, s2, d):
        i = self.i
        self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i] = s, a, r, s2, d
        self.i = (i + 1) % self.size
        self.n = min(self.n + 1, self.size)

    def draw(self, k):
        j = np.random.randint(0, self.n, k)
        return [torch.from_numpy(x[j]) for x in (self.s, self.a, self.r, self.s2, self.d)]


STACK = 32


class Sensor(gym.ObservationWrapper):
    def observation(self, o):
        return (o + np.random.normal(0, 0.01, o.shape)).astype(np.float32)


env = Sensor(gym.make("CartPole-v1"))
DIM = env.observation_space.shape[0]
ACT = env.action_space.n


def net():
    return torch.nn.Sequential(torch.nn.Linear(STACK * DIM, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, ACT))


q, qt = net(), net()
qt.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), 5e-4)
mem = Memory(150000, STACK, DIM)
frames = collections.deque(maxlen=STACK)


def reset():
    o, _ = env.reset()
    for _ in range(STACK):
        frames.append(o)
    return np.concatenate(frames)


s = reset()
while mem.n < 80000:                      # random play first
    a = env.action_space.sample()
    o, r, done, cut, _ = env.step(a)
    frames.append(o)
    s2 = np.concatenate(frames)
    mem.add(s, a, r, s2, float(done))
    s = reset() if done or cut else s2
print(f"memory filled: {mem.n} transitions")

scores, score, losses = collections.deque([0.0], maxlen=30), 0.0, []
t0 = time.time()
for it in range(1, 10**7):
    eps = max(0.05, 1 - it / 8000)
    if random.random() < eps:
        a = env.action_space.sample()
    else:
        with torch.no_grad():
            a = int(q(torch.from_numpy(s)).argmax())
    o, r, done, cut, _ = env.step(a)
    frames.append(o)
    s2 = np.concatenate(frames)
    mem.add(s, a, r, s2, float(done))
    score += r
    s = s2
    if done or cut:
        scores.append(score)
        score, s = 0.0, reset()
    bs, ba, br, bs2, bd = mem.draw(64)
    with torch.no_grad():
        y = br + 0.99 * (1 - bd) * qt(bs2).max(1).values
    loss = F.smooth_l1_loss(q(bs).gather(1, ba[:, None])[:, 0], y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())
    if it % 500 == 0:
        qt.load_state_dict(q.state_dict())
    if it % 250 == 0:
        print(f"[{time.time() - t0:7.1f}s] iter={it} td_loss={np.mean(losses):.4f} return30={np.mean(scores):.1f} eps={eps:.2f}")
        losses.clear()
    if it % 1000 == 0:
        joblib.dump({"iter": it, "q": q.state_dict(), "opt": opt.state_dict(), "memory": mem}, "agent.tmp", compress=("lzma", 6))
        os.replace("agent.tmp", "agent.joblib")
        print(f"[{time.time() - t0:7.1f}s] saved agent.joblib ({os.path.getsize('agent.joblib') / 1e6:.1f} MB)")
