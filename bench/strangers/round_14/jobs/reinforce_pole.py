import csv
import os

import gymnasium as gym
import torch
import torch.nn as nn


class Recorder(gym.Wrapper):
    """keeps one csv of every episode, for the paper's plots"""

    def __init__(self, env, folder):
        super().__init__(env)
        os.makedirs(folder, exist_ok=True)
        self.folder, self.episode, self.writers = folder, 0, []

    def reset(self, **kw):
        f = open(f"{self.folder}/ep_{self.episode:06d}.csv", "w", newline="")
        self.writers.append(csv.writer(f))
        self.episode += 1
        return self.env.reset(**kw)

    def step(self, a):
        out = self.env.step(a)
        self.writers[-1].writerow([*out[0].round(4), out[1]])
        return out


env = Recorder(gym.make("CartPole-v1"), "episodes")
pi = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
opt = torch.optim.Adam(pi.parameters(), 2e-4)
avg = 20.0
for ep in range(10 ** 6):
    obs, _ = env.reset()
    logp, rew, done = [], [], False
    while not done:
        d = torch.distributions.Categorical(logits=pi(torch.as_tensor(obs)))
        a = d.sample()
        logp.append(d.log_prob(a))
        obs, r, term, trunc, _ = env.step(a.item())
        rew.append(r)
        done = term or trunc
    ret, g = [], 0.0
    for r in reversed(rew):
        g = r + 0.99 * g
        ret.insert(0, g)
    ret = torch.tensor(ret)
    loss = -(torch.stack(logp) * (ret - ret.mean()) / (ret.std() + 1e-6)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    avg = 0.95 * avg + 0.05 * len(rew)
    if ep % 50 == 0:
        print(f"episode {ep}\tlength {len(rew)}\tavg length {avg:.1f}", flush=True)
