"""Actor-critic on the balance task CartPole with small nets; returns jump a lot."""
import time

import gymnasium as gym
import torch
from torch import nn

env = gym.make("CartPole-v1")
body = nn.Sequential(nn.Linear(4, 48), nn.Tanh())
pi, v = nn.Linear(48, 2), nn.Linear(48, 1)
opt = torch.optim.Adam([*body.parameters(), *pi.parameters(), *v.parameters()], 7e-3)
state, _ = env.reset(seed=1)
episode, total, episodes = 0, 0.0, []
for update in range(1, 100000):
    logs, values, rewards, masks = [], [], [], []
    for _ in range(64):
        h = body(torch.tensor(state))
        d = torch.distributions.Categorical(logits=pi(h))
        a = d.sample()
        state, r, done, cut, _ = env.step(int(a))
        total += r
        logs.append(d.log_prob(a))
        values.append(v(h)[0])
        rewards.append(r)
        masks.append(0.0 if done or cut else 1.0)
        if done or cut:
            episodes.append(total)
            total = 0.0
            state, _ = env.reset()
    ret, target = v(body(torch.tensor(state)))[0].detach(), []
    for r, m in zip(reversed(rewards), reversed(masks)):
        ret = r + 0.99 * m * ret
        target.insert(0, ret)
    target, values = torch.stack(target), torch.stack(values)
    adv = (target - values).detach()
    loss = -(torch.stack(logs) * adv).mean() * 0.1 + 0.01 * nn.functional.smooth_l1_loss(values, target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    time.sleep(0.1)
    if update % 5 == 0:
        episodes = episodes[-10:]
        print(f"{update:6d} updates {64 * update:8d} frames   last return {episodes[-1]:5.0f}   mean of 10 {sum(episodes) / len(episodes):6.1f}", flush=True)
