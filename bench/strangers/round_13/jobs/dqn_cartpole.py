"""dqn from scratch (uni project), CartPole"""
import random

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
from tqdm import tqdm

env = gym.make("CartPole-v1")
q = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
q_target = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
q_target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=5e-4)

memory = []
GAMMA, BATCH = 0.99, 64


def sample_batch():
    # prioritise surprising transitions
    rewards = np.array([m[2] for m in memory])
    td = np.array([m[5] for m in memory])
    prio = (np.abs(td) + 0.01) ** 0.6 + 0.0 * rewards
    idx = np.random.choice(len(memory), BATCH, p=prio / prio.sum())
    return idx, [memory[i] for i in idx]


state, _ = env.reset(seed=1)
episode, ep_reward, losses = 0, 0, []
for t in tqdm(range(2_000_000), mininterval=2):
    eps = max(0.05, 1 - t / 5000)
    if random.random() < eps:
        action = env.action_space.sample()
    else:
        with torch.no_grad():
            action = int(q(torch.as_tensor(state)).argmax())
    nxt, r, term, trunc, _ = env.step(action)
    memory.append([state, action, r, nxt, term, 1.0])
    state = nxt
    ep_reward += r
    if len(memory) > BATCH:
        idx, b = sample_batch()
        s = torch.as_tensor(np.stack([m[0] for m in b]))
        a = torch.tensor([m[1] for m in b])
        rew = torch.tensor([m[2] for m in b], dtype=torch.float32)
        s2 = torch.as_tensor(np.stack([m[3] for m in b]))
        d = torch.tensor([m[4] for m in b], dtype=torch.float32)
        with torch.no_grad():
            y = rew + GAMMA * (1 - d) * q_target(s2).max(1).values
        err = q(s).gather(1, a[:, None]).squeeze(1) - y
        loss = nn.functional.smooth_l1_loss(err, torch.zeros_like(err))
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
        for i, e in zip(idx, err.detach().tolist()):
            memory[i][5] = e
    if t % 500 == 0:
        q_target.load_state_dict(q.state_dict())
        if losses:
            tqdm.write(f"t {t} loss {np.mean(losses[-500:]):.4f} eps {eps:.2f} buffer {len(memory)}")
    if term or trunc:
        episode += 1
        if episode % 20 == 0:
            tqdm.write(f"episode {episode} reward {ep_reward:.0f}")
        state, _ = env.reset()
        ep_reward = 0
