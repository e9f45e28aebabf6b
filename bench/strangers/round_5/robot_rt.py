"""Policy gradient on a robot arm that runs in real time at 25 Hz."""

import collections
import logging
import time

import torch
from rich.logging import RichHandler
from torch import nn

torch.set_num_threads(1)
logging.basicConfig(level="INFO", format="%(message)s", handlers=[RichHandler(show_path=False)])
log = logging.getLogger("arm")


class Arm:
    """Two joints; commands take effect at the tick of the controller."""

    period = 1 / 25

    def __init__(self):
        self.tick = time.monotonic()

    def reset(self):
        self.angle, self.speed = torch.randn(2) * 0.3, torch.zeros(2)
        self.target = torch.randn(2) * 0.5
        return self.observe()

    def observe(self):
        return torch.cat([self.angle, self.speed, self.target])

    def step(self, torque):
        self.tick = max(self.tick + self.period, time.monotonic() - self.period)
        time.sleep(max(0.0, self.tick - time.monotonic()))
        self.speed = 0.9 * self.speed + 0.1 * torque.clamp(-1, 1)
        self.angle = self.angle + self.period * self.speed
        return self.observe(), -float((self.angle - self.target).norm())


def main():
    arm, returns = Arm(), collections.deque(maxlen=20)
    policy = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    for episode in range(1, 100_000):
        state, logps, rewards = arm.reset(), [], []
        for _ in range(50):
            normal = torch.distributions.Normal(policy(state), 0.3)
            torque = normal.sample()
            logps.append(normal.log_prob(torque).sum())
            state, reward = arm.step(torque)
            rewards.append(reward)
        togo = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
        loss = -(torch.stack(logps) * (togo - togo.mean()) / (togo.std() + 1e-6)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        returns.append(sum(rewards))
        log.info(
            "episode %d  return %.2f  mean of 20 %.2f  loss %.4f",
            episode,
            returns[-1],
            sum(returns) / len(returns),
            loss.item(),
        )


if __name__ == "__main__":
    main()
