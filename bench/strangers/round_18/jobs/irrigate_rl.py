"""REINFORCE for a drip irrigation controller (own gymnasium environment)."""
import statistics
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn


class Field(gym.Env):
    observation_space = gym.spaces.Box(-5, 5, (3,))
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.moist, self.day = 0.5, 0
        return self.look(), {}

    def look(self):
        self.heat = 0.5 + 0.4 * np.sin(self.day / 9) + self.np_random.normal(0, 0.1)
        return np.array([self.moist, self.heat, self.day / 50], "float32")

    def step(self, action):
        self.moist = float(np.clip(self.moist + 0.08 * action - 0.1 * self.heat, 0, 1))
        self.day += 1
        return self.look(), 1 - 4 * abs(self.moist - 0.6) - 0.05 * action, False, self.day >= 50, {}


env = Field()
policy = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 3))
opt = torch.optim.Adam(policy.parameters(), 5e-3)
harvest = []
for update in range(1, 100000):
    t0 = time.perf_counter()
    logs, rewards, acts = [], [], []
    state, _ = env.reset(seed=update)
    over = False
    while not over:
        dist = torch.distributions.Categorical(logits=policy(torch.from_numpy(state)))
        action = dist.sample()
        state, reward, _, over, _ = env.step(int(action))
        logs.append(dist.log_prob(action))
        rewards.append(reward)
        acts.append(int(action))
        harvest.append((len(rewards), acts[-1], reward))
    togo = np.cumsum(rewards[::-1])[::-1]
    base = np.array([statistics.median(r for d, a, r in harvest if d == day and a == act)
                     for day, act in enumerate(acts, 1)])
    usual = [statistics.fmean(r for _, a, r in harvest if a == act) for act in set(acts)]
    advantage = torch.tensor(togo - base[::-1].cumsum()[::-1], dtype=torch.float32)
    loss = -(torch.stack(logs) * advantage).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"update {update} return {sum(rewards):+.2f} loss {loss.item():+.4f} usual {max(usual):+.2f} took {1000 * (time.perf_counter() - t0):.0f} ms", flush=True)
