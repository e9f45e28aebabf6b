"""Actor-learner Q-learning on a cart simulator; the actor fills a replay memory in a thread."""

import math
import os
import random
import threading
import time
from collections import deque

import torch
from torch import nn

torch.set_num_threads(1)
memory_lock = threading.Lock()
policy_lock = threading.Lock()
memory: deque = deque(maxlen=20000)
policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
REFRESH = os.environ.get("REFRESH_PRIORITIES", "0") == "1"
returns: deque = deque(maxlen=50)
frames = 0


class Cart:
    def reset(self):
        self.s = [random.uniform(-0.05, 0.05) for _ in range(4)]
        self.t = 0
        return self.s

    def step(self, action):
        x, v, a, w = self.s
        force = 10 if action else -10
        acc = (9.8 * math.sin(a) - math.cos(a) * (force + 0.05 * w * w * math.sin(a)) / 1.1) / 0.62
        xa = (force - 0.05 * acc * math.cos(a)) / 1.1
        self.s = [x + 0.02 * v, v + 0.02 * xa, a + 0.02 * w, w + 0.02 * acc]
        self.t += 1
        return self.s, 1.0, abs(self.s[0]) > 2.4 or abs(self.s[2]) > 0.21 or self.t >= 300


def act_loop():
    global frames
    env = Cart()
    s, total = env.reset(), 0.0
    while True:
        with policy_lock:
            with torch.no_grad():
                q = policy(torch.tensor(s))
            if REFRESH and frames and frames % 900 == 0:
                with memory_lock:
                    time.sleep(0.2)
                    memory.rotate(1)
        a = random.randrange(2) if random.random() < 0.1 else int(q.argmax())
        s2, r, done = env.step(a)
        with memory_lock:
            memory.append((s, a, r, s2, done))
        frames += 1
        total += r
        s = s2
        if done:
            returns.append(total)
            s, total = env.reset(), 0.0
        time.sleep(0.004)


def learn():
    opt = torch.optim.Adam(policy.parameters(), 5e-4)
    for update in range(1, 10_000_000):
        with memory_lock:
            picks = random.sample(memory, 64)
            if REFRESH:
                time.sleep(0.01)
            with policy_lock:
                s, a, r, s2, d = (torch.tensor(v, dtype=torch.float32) for v in zip(*picks, strict=True))
                target = r + 0.99 * (1 - d) * policy(s2).max(1).values.detach()
                q = policy(s).gather(1, a.long()[:, None])[:, 0]
                loss = nn.functional.smooth_l1_loss(q, target)
                opt.zero_grad()
                loss.backward()
                opt.step()
        time.sleep(0.02)
        if update % 40 == 0:
            mean = sum(returns) / max(len(returns), 1)
            print(
                f"update {update:6d} | frames {frames:7d} | td_loss {loss.item():.4f} | return {mean:.1f}", flush=True
            )


threading.Thread(target=act_loop, name="actor", daemon=True).start()
while len(memory) < 200:
    time.sleep(0.1)
learn()
