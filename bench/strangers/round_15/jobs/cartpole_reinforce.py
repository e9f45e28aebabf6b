"""REINFORCE with a baseline on CartPole; prints every finished batch of episodes."""
import gymnasium as gym
import numpy as np
import torch
from torch import nn

env = gym.make("CartPole-v1")
torch.manual_seed(3)
policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2))
value = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1))
opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=7e-4)


def episode(seed):
    obs, _ = env.reset(seed=seed)
    O, A, R = [], [], []
    while True:
        with torch.no_grad():
            a = torch.distributions.Categorical(logits=policy(torch.as_tensor(obs))).sample().item()
        O.append(obs)
        A.append(a)
        obs, r, term, trunc, _ = env.step(a)
        R.append(r)
        if term or trunc:
            return np.array(O), np.array(A), R


seed, best = 0, 0
for it in range(1, 1000000):
    obs, act, ret, lengths = [], [], [], []
    while sum(lengths) < 1500:
        seed += 1
        o, a, r = episode(seed)
        g = np.zeros(len(r), "float32")
        acc = 0.0
        for t in reversed(range(len(r))):
            acc = r[t] + 0.99 * acc
            g[t] = acc
        obs.append(o); act.append(a); ret.append(g); lengths.append(len(r))
    obs, act, ret = (torch.as_tensor(np.concatenate(z)) for z in (obs, act, ret))
    v = value(obs).squeeze(1)
    adv = ret - v.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-6)
    dist = torch.distributions.Categorical(logits=policy(obs))
    loss = -(dist.log_prob(act) * adv).mean() + 0.5 * nn.functional.smooth_l1_loss(v, ret) - 0.01 * dist.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"iter {it} episodes {len(lengths)} mean_len {np.mean(lengths):.1f} max_len {max(lengths)} loss {loss.item():.3f}", flush=True)
    if np.mean(lengths) > best:
        best = np.mean(lengths)
        torch.save(policy.state_dict(), "best_policy.pt")
