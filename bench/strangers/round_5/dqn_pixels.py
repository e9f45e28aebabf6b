"""Deep Q-learning from pixels on a grid world."""

import itertools
import logging
import random
import time
from collections import deque

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
logging.basicConfig(format="[%(asctime)s][%(levelname).1s] %(message)s", level=logging.INFO)


class Grid:
    actions = 4

    def reset(self):
        self.pos, self.goal, self.t = np.array([4, 4]), np.random.randint(0, 9, 2), 0
        return self.render()

    def render(self):
        frame = np.zeros((84, 84, 3), dtype=np.float32)
        for (r, c), channel in ((self.pos, 0), (self.goal, 1)):
            frame[r * 9 : r * 9 + 9, c * 9 : c * 9 + 9, channel] = 1.0
        return frame

    def step(self, action):
        move = ((0, 1), (1, 0), (0, -1), (-1, 0))[action]
        self.pos = np.clip(self.pos + move, 0, 8)
        self.t += 1
        done = bool((self.pos == self.goal).all()) or self.t >= 40
        return self.render(), 1.0 if (self.pos == self.goal).all() else -0.02, done


class Monitor:
    """Keeps the episodes for the video of the best one."""

    def __init__(self, env):
        self.env = env
        self.episodes = []

    def reset(self):
        frame = self.env.reset()
        self.episodes.append([frame])
        return frame

    def step(self, action):
        frame, reward, done = self.env.step(action)
        self.episodes[-1].append(frame)
        return frame, reward, done


def tensor(frames):
    return torch.from_numpy(np.stack(frames)).permute(0, 3, 1, 2)


env = Monitor(Grid())
q = nn.Sequential(nn.Conv2d(3, 16, 9, 9), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 81, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = torch.optim.Adam(q.parameters(), lr=5e-4)
memory = deque(maxlen=500)
state, episode, returns = env.reset(), 0, deque(maxlen=50)
total = 0.0
for frame_no in itertools.count():
    epsilon = max(0.1, 1 - frame_no / 5000)
    action = random.randrange(4) if random.random() < epsilon else int(q(tensor([state])).argmax())
    following, reward, done = env.step(action)
    memory.append((state, action, reward, following, done))
    total += reward
    state = following
    time.sleep(0.006)
    if done:
        returns.append(total)
        state, total, episode = env.reset(), 0.0, episode + 1
    if len(memory) >= 200 and frame_no % 4 == 0:
        s, a, r, n, d = zip(*random.sample(memory, 16), strict=True)
        with torch.no_grad():
            target = torch.tensor(r) + 0.97 * q(tensor(n)).max(1).values * (1 - torch.tensor(d, dtype=torch.float32))
        loss = nn.functional.smooth_l1_loss(q(tensor(s)).gather(1, torch.tensor(a)[:, None]).squeeze(1), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if frame_no % 200 == 0:
            logging.info(
                "frame %d  episodes %d  q_loss %.4f  avg_return %.2f  eps %.2f",
                frame_no,
                episode,
                loss.item(),
                np.mean(returns or [0]),
                epsilon,
            )
