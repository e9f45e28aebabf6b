"""Soft actor-critic (critics only) on a toy task; collects in bursts, then updates in bursts."""

import csv
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
CAPACITY = 6000


class Ring:
    def __init__(self, shape):
        self.states = []
        self.rewards = []
        self.shape, self.at = shape, 0

    def push(self, state, reward):
        if len(self.states) < CAPACITY:
            self.states.append(state)
            self.rewards.append(reward)
        else:
            self.states[self.at], self.rewards[self.at] = state, reward
            self.at = (self.at + 1) % CAPACITY

    def sample(self, n):
        pick = np.random.randint(0, len(self.states), n)
        return torch.from_numpy(np.stack([self.states[i] for i in pick])), torch.tensor([self.rewards[i] for i in pick])


def main():
    ring = Ring((48, 48))
    critic = nn.Sequential(nn.Flatten(), nn.Linear(48 * 48, 128), nn.ReLU(), nn.Linear(128, 1))
    optimizer = torch.optim.Adam(critic.parameters(), lr=3e-4)
    rng = np.random.default_rng(0)
    with Path("progress.csv").open("w", newline="", buffering=1) as file:
        out = csv.writer(file)
        out.writerow(["iteration", "env_steps", "buffer", "critic_loss", "reward_mean", "seconds"])
        start = time.time()
        for iteration in range(1, 100_000):
            rewards = []
            for _ in range(200):
                state = rng.standard_normal((48, 48), dtype=np.float32)
                reward = float(np.tanh(state[:4].sum() / 10) + 0.3 * rng.standard_normal())
                ring.push(state, np.float32(reward))
                rewards.append(reward)
                time.sleep(0.002)
            losses = []
            for _ in range(40):
                states, targets = ring.sample(128)
                loss = nn.functional.mse_loss(critic(states).squeeze(1), targets)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            row = [
                iteration,
                iteration * 200,
                len(ring.states),
                f"{np.mean(losses):.4f}",
                f"{np.mean(rewards):.3f}",
                f"{time.time() - start:.1f}",
            ]
            out.writerow(row)
            print(" ".join(map(str, row)), flush=True)


if __name__ == "__main__":
    main()
