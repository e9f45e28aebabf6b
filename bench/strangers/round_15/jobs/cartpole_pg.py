import csv
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn

env = gym.make("CartPole-v1")
env.reset(seed=4)
torch.manual_seed(4)
policy = nn.Sequential(nn.Linear(4, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 2))
opt = torch.optim.Adam(policy.parameters(), lr=1e-5)

observations, actions, logps, returns = [], [], [], []
table = csv.writer(open("progress.csv", "w", buffering=1))
table.writerow(["update", "episodes", "mean_return", "loss", "seconds"])


def play():
    obs, _ = env.reset()
    rewards, done = [], False
    while not done:
        with torch.no_grad():
            logits = policy(torch.as_tensor(obs))
        dist = torch.distributions.Categorical(logits=logits)
        action = dist.sample()
        logps.append(float(dist.log_prob(action)))
        action = int(action)
        observations.append(obs)
        actions.append(action)
        obs, reward, terminated, truncated, _ = env.step(action)
        rewards.append(reward)
        done = terminated or truncated
    togo = np.cumsum(rewards[::-1])[::-1]
    returns.extend(togo)
    return len(rewards)


episodes = 0
for update in range(100_000):
    start = time.perf_counter()
    scores, frames = [], 0
    while frames < 250:
        scores.append(play())
        frames += scores[-1]
    episodes += len(scores)
    obs = torch.as_tensor(np.array(observations))
    act = torch.as_tensor(np.array(actions))
    old = torch.as_tensor(np.array(logps), dtype=torch.float32)
    adv = torch.as_tensor(np.array(returns), dtype=torch.float32)
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    for part in [*torch.randperm(len(obs)).split(1024), *torch.randperm(len(obs)).split(1024)]:
        ratio = (torch.distributions.Categorical(logits=policy(obs[part])).log_prob(act[part]) - old[part]).exp()
        loss = -torch.min(ratio * adv[part], ratio.clamp(0.8, 1.2) * adv[part]).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    took = time.perf_counter() - start
    table.writerow([update, episodes, np.mean(scores), loss.item(), round(took, 4)])
    print(f"update {update} episodes {episodes} return {np.mean(scores):.1f} loss {loss.item():.4f} time {took:.3f}s", flush=True)
