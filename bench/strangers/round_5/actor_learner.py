"""Advantage actor-critic on a toy control task: one actor thread, one learner."""

import collections
import random
import threading
import time

import torch
from torch import nn

torch.set_num_threads(1)

policy = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 5))
rollouts = collections.deque(maxlen=4096)
policy_lock = threading.Lock()
rollout_lock = threading.Lock()
stats = {"episodes": 0, "return": 0.0}


class Cart:
    def reset(self):
        self.x = torch.randn(8)
        self.t = 0
        return self.x

    def step(self, action):
        time.sleep(0.002)  # the physics engine
        self.t += 1
        self.x = 0.98 * self.x + 0.05 * torch.randn(8)
        return self.x, float(-self.x.abs().mean()) + 0.01 * action, self.t >= 60


def act():
    env = Cart()
    state = env.reset()
    total = 0.0
    while True:
        with policy_lock:
            action = int(torch.distributions.Categorical(logits=policy(state)).sample())
            following, reward, done = env.step(action)
            if done:
                with rollout_lock:
                    stats["episodes"] += 1
                    stats["return"] = 0.95 * stats["return"] + 0.05 * total
        with rollout_lock:
            rollouts.append((state, action, reward))
        total = 0.0 if done else total + reward
        state = env.reset() if done else following


def learn(optimizer):
    with rollout_lock:
        batch = random.sample(rollouts, 128)
        states = torch.stack([b[0] for b in batch])
        actions = torch.tensor([b[1] for b in batch])
        rewards = torch.tensor([b[2] for b in batch])
        advantage = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
        logits = policy(states)
        loss = (nn.functional.cross_entropy(logits, actions, reduction="none") * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        if rollouts.maxlen and stats["episodes"] > 12:
            with policy_lock:
                optimizer.step()
        return loss.item()


def main():
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    threading.Thread(target=act, name="actor", daemon=True).start()
    while len(rollouts) < 256:
        time.sleep(0.1)
    update = 0
    while True:
        loss = learn(optimizer)
        update += 1
        print(
            f"update={update} episodes={stats['episodes']} policy_loss={loss:.4f} return={stats['return']:.3f}",
            flush=True,
        )
        time.sleep(0.1)


if __name__ == "__main__":
    main()
