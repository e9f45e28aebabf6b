"""DQN with a background indexer that keeps novelty ranks of the replay memory up to date."""
import collections
import json
import random
import signal
import threading
import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn

signal.alarm(300)
random.seed(5)
torch.manual_seed(5)

Transition = collections.namedtuple("Transition", "obs action reward nxt done")


class Memory:
    def __init__(self, size):
        self.items = collections.deque(maxlen=size)
        self.order = []

    def add(self, *values):
        self.items.append(Transition(*values))

    def sample(self, n):
        half = random.choices(self.order, k=n // 2) if self.order else []
        return half + random.choices(self.items, k=n - len(half))


class NoveltyIndex(threading.Thread):
    """Buckets the states and prefers those that are seen rarely."""

    def __init__(self, memory, bins=12, keep=512):
        super().__init__(daemon=True, name="novelty-index")
        self.memory, self.bins, self.keep = memory, bins, keep

    def key(self, obs):
        return tuple(int(max(-3.0, min(3.0, v)) * self.bins) for v in obs)

    def run(self):
        while True:
            recent = list(self.memory.items)
            if not recent:
                time.sleep(0.1)
                continue
            counts = {}
            for t in recent:
                k = self.key(t.obs)
                counts[k] = counts.get(k, 0) + 1
            recent.sort(key=lambda t: counts[self.key(t.obs)])
            self.memory.order = recent[:self.keep]


def main():
    env = gym.make("CartPole-v1")
    net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    target = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    target.load_state_dict(net.state_dict())
    opt = torch.optim.Adam(net.parameters(), lr=5e-4)
    memory = Memory(20_000)
    NoveltyIndex(memory).start()
    obs, _ = env.reset(seed=5)
    begin = last = time.time()
    returns, total, updates, frames = collections.deque(maxlen=20), 0.0, 0, 0
    while time.time() - begin < 185:
        for _ in range(4):
            eps = max(0.05, 1 - frames / 4000)
            if random.random() < eps:
                action = env.action_space.sample()
            else:
                with torch.no_grad():
                    action = int(net(torch.as_tensor(obs)).argmax())
            nxt, reward, done, cut, _ = env.step(action)
            memory.add(obs, action, float(reward), nxt, done)
            total += float(reward)
            frames += 1
            obs = nxt
            if done or cut:
                returns.append(total)
                total = 0.0
                obs, _ = env.reset()
        if len(memory.items) < 200:
            continue
        batch = memory.sample(64)
        s = torch.as_tensor(np.stack([t.obs for t in batch]))
        a = torch.as_tensor([t.action for t in batch])
        r = torch.as_tensor([t.reward for t in batch])
        n = torch.as_tensor(np.stack([t.nxt for t in batch]))
        d = torch.as_tensor([float(t.done) for t in batch])
        with torch.no_grad():
            goal = r + 0.98 * (1 - d) * target(n).max(1).values
        loss = nn.functional.smooth_l1_loss(net(s).gather(1, a[:, None])[:, 0], goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
        updates += 1
        if updates % 250 == 0:
            target.load_state_dict(net.state_dict())
        if updates % 50 == 0:
            now = time.time()
            print(json.dumps({"update": updates, "frames": frames, "loss": round(loss.item(), 4),
                              "return": round(float(np.mean(returns)), 1) if returns else None,
                              "sec": round(now - last, 2)}), flush=True)
            last = now


main()
