"""行動スレッドと学習スレッドを分けたDQN(CartPole)。"""
import random
import threading
import time
from collections import deque

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class ReplayBuffer:
    def __init__(self, size=20000):
        self.items = deque(maxlen=size)
        self.lock = threading.Lock()

    def sample(self, n):
        batch = random.sample(self.items, n)
        return [torch.as_tensor(np.array(c), dtype=torch.float32) for c in zip(*batch)]


class Policy:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 2))
        self.target = nn.Sequential(nn.Linear(4, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 2))
        self.lock = threading.Lock()
        self.sync()

    def sync(self):
        self.target.load_state_dict(self.net.state_dict())

    @torch.no_grad()
    def act(self, obs, eps):
        if random.random() < eps:
            return random.randrange(2)
        return int(self.net(torch.as_tensor(obs)).argmax())


def actor(policy, buffer):
    env = gym.make("CartPole-v1")
    total = 0
    for episode in range(1, 10**6):
        obs, _ = env.reset()
        done, score, steps = False, 0.0, []
        while not done:
            a = policy.act(obs, max(0.05, 1 - total / 4000))
            nxt, r, term, trunc, _ = env.step(a)
            done = term or trunc
            steps.append((obs, a, r, nxt, float(term)))
            obs, score, total = nxt, score + r, total + 1
            time.sleep(0.002)
        with buffer.lock:
            buffer.items.extend(steps)
            if episode % 50 == 0:
                # バッファが変わらないうちにターゲットを更新
                with policy.lock:
                    policy.sync()
                print(f"ターゲット更新 (エピソード {episode})", flush=True)
        if episode % 5 == 0:
            print(f"エピソード {episode} 報酬 {score:.0f} 総ステップ {total}", flush=True)


def learner(policy, buffer):
    opt = torch.optim.Adam(policy.net.parameters(), 5e-4)
    updates = 0
    while True:
        if len(buffer.items) < 500:
            time.sleep(0.05)
            continue
        with policy.lock:
            for _ in range(8):
                with buffer.lock:
                    s, a, r, n, d = buffer.sample(256)
                with torch.no_grad():
                    y = r + 0.99 * (1 - d) * policy.target(n).max(1).values
                q = policy.net(s).gather(1, a.long()[:, None]).squeeze(1)
                loss = nn.functional.smooth_l1_loss(q, y)
                opt.zero_grad()
                loss.backward()
                opt.step()
                updates += 1
        if updates % 200 == 0:
            print(f"更新 {updates} 損失 {loss.item():.4f}", flush=True)
        time.sleep(0.02)


if __name__ == "__main__":
    random.seed(1)
    torch.manual_seed(1)
    policy, buffer = Policy(), ReplayBuffer()
    threads = [threading.Thread(target=f, args=(policy, buffer), name=f.__name__) for f in (actor, learner)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
