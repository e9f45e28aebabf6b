"""Advantage actor-critic on a corridor; three actor processes step their own environments."""

import multiprocessing as mp
import time

import numpy as np
import torch
from torch import nn

LENGTH = 12


def actor(link, seed):
    rng = np.random.default_rng(seed)
    pos, t = 0, 0
    while True:
        link.send((pos, t))
        move = link.recv()
        time.sleep(0.004)  # the simulator
        if rng.random() < 0.1:
            move = 1 - move
        pos = min(LENGTH, max(0, pos + (1 if move else -1)))
        t += 1
        done = pos == LENGTH or t == 60
        link.send((1.0 if pos == LENGTH else -0.02, done))
        if done:
            pos, t = int(rng.integers(0, 4)), 0


def main():
    torch.manual_seed(0)
    links = []
    for seed in range(3):
        here, there = mp.Pipe()
        mp.Process(target=actor, args=(there, seed), daemon=True, name=f"actor{seed}").start()
        links.append(here)
    net = nn.Sequential(nn.Linear(LENGTH + 1, 32), nn.Tanh(), nn.Linear(32, 3))
    opt = torch.optim.Adam(net.parameters(), lr=7e-4)
    eye = torch.eye(LENGTH + 1)
    returns, sums = [], [0.0] * 3
    for update in range(1, 10**6):
        logps, values, rewards, ends, entropy = [], [], [], [], 0.0
        for _ in range(16):
            obs = torch.stack([eye[link.recv()[0]] for link in links])
            out = net(obs)
            dist = torch.distributions.Categorical(logits=out[:, :2])
            act = dist.sample()
            for link, a in zip(links, act.tolist(), strict=True):
                link.send(a)
            got = [link.recv() for link in links]
            logps.append(dist.log_prob(act))
            values.append(out[:, 2])
            entropy = entropy + dist.entropy().mean() / 16
            rewards.append(torch.tensor([g[0] for g in got]))
            ends.append(torch.tensor([float(g[1]) for g in got]))
            for k, (r, end) in enumerate(got):
                sums[k] += r
                if end:
                    returns.append(sums[k])
                    sums[k] = 0.0
        future = values[-1].detach()
        actor_loss = critic_loss = 0.0
        for i in reversed(range(16)):
            future = rewards[i] + 0.97 * future * (1 - ends[i])
            adv = future - values[i]
            actor_loss = actor_loss - (logps[i] * adv.detach()).mean() / 16
            critic_loss = critic_loss + adv.square().mean() / 16
        opt.zero_grad()
        (actor_loss + 0.5 * critic_loss - 0.01 * entropy).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        if update % 20 == 0:
            recent = returns[-30:]
            print(
                f"update {update} episodes {len(returns)} mean_return {np.mean(recent) if recent else 0:.3f}"
                f" entropy {entropy.item():.3f} value_loss {critic_loss.item():.4f}"
            )


if __name__ == "__main__":
    main()
