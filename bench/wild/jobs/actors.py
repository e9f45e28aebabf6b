"""Actors in processes that send episodes over a queue, and one learner."""

import multiprocessing

import gymnasium
import numpy as np
import torch
from torch import nn


def act(number, queue):
    env = gymnasium.make("CartPole-v1")
    state, _ = env.reset(seed=number)
    rng = np.random.default_rng(number)
    while True:
        states, actions, rewards = [], [], []
        for _ in range(200):
            action = int(rng.random() < 0.5 + 0.4 * np.sign(state[2]))
            states.append(state)
            state, reward, done, cut, _ = env.step(action)
            actions.append(action)
            rewards.append(reward)
            if done or cut:
                state, _ = env.reset()
        queue.put((np.array(states), np.array(actions), np.array(rewards, dtype=np.float32)))


if __name__ == "__main__":
    queue = multiprocessing.Queue(4)
    for number in range(2):
        multiprocessing.Process(target=act, args=(number, queue), daemon=True).start()
    policy = nn.Sequential(nn.Linear(4, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-4)
    for update in range(1, 1_000_000):
        states, actions, rewards = queue.get()
        for _ in range(10):
            loss = nn.functional.cross_entropy(policy(torch.from_numpy(states)), torch.from_numpy(actions))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if update % 10 == 0:
            print(f"update {update} frames {update * 200} policy_loss {loss.item():.4f} reward {rewards.sum():.1f}")
