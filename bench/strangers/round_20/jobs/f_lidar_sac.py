"""SAC for a planar mobile robot with a lidar (stable-baselines3). Demonstrations are loaded into the buffer first."""
import gzip
import os
import pickle


import gymnasium as gym
import numpy as np
from stable_baselines3 import SAC
from stable_baselines3.common.callbacks import BaseCallback

BEAMS = 120


class Yard(gym.Env):
    observation_space = gym.spaces.Box(-10, 10, (BEAMS + 4,), np.float32)
    action_space = gym.spaces.Box(-1, 1, (2,), np.float32)

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.angles = np.linspace(-np.pi, np.pi, BEAMS, endpoint=False)
        self.posts = self.rng.uniform(-4, 4, (12, 2))

    def reset(self, *, seed=None, options=None):
        self.pos, self.goal = self.rng.uniform(-4, 4, 2), self.rng.uniform(-4, 4, 2)
        self.t = 0
        return self.observe(), {}

    def observe(self):
        d = self.posts - self.pos
        dist = np.hypot(d[:, 0], d[:, 1])
        bearing = np.arctan2(d[:, 1], d[:, 0])
        gap = np.abs((self.angles[:, None] - bearing[None] + np.pi) % (2 * np.pi) - np.pi)
        hit = np.where(gap < 0.25 / np.maximum(dist, 0.26), dist, 8.0).min(1)
        hit = hit + self.rng.normal(0, 0.02, BEAMS)
        return np.concatenate([hit, self.pos, self.goal - self.pos]).astype(np.float32)

    def step(self, action):
        self.pos = np.clip(self.pos + 0.15 * action, -5, 5)
        self.t += 1
        away = np.hypot(*(self.goal - self.pos))
        near = np.hypot(*(self.posts - self.pos).T).min()
        reward = -0.2 * away - (1.0 if near < 0.3 else 0.0) + (5.0 if away < 0.3 else 0.0)
        return self.observe(), float(reward), bool(away < 0.3), self.t >= 120, {}


class KeepAll(BaseCallback):
    """So that a preempted run can go on exactly where it was."""

    def __init__(self, every, folder="run"):
        super().__init__()
        self.every, self.folder = every, folder
        os.makedirs(folder, exist_ok=True)

    def _on_step(self):
        if self.n_calls % self.every == 0:
            self.model.save(f"{self.folder}/policy.zip")
            part = f"{self.folder}/buffer.pkl.gz.part"
            with gzip.open(part, "wb") as f:
                pickle.dump(self.model.replay_buffer, f)
            os.replace(part, f"{self.folder}/buffer.pkl.gz")
            print(f"saved run/ at {self.num_timesteps} steps")
        return True


def demonstrations(model, env, n):
    obs, _ = env.reset()
    for _ in range(n):
        toward = obs[-2:]
        action = np.clip(toward / (np.abs(toward).max() + 1e-6) + env.rng.normal(0, 0.4, 2), -1, 1).astype(np.float32)
        nxt, reward, term, trunc, _ = env.step(action)
        model.replay_buffer.add(obs, nxt, action, np.array([reward]), np.array([term]), [{}])
        obs = env.reset()[0] if term or trunc else nxt


env = Yard()
model = SAC("MlpPolicy", env, buffer_size=80_000, batch_size=128, learning_starts=0, verbose=1, seed=0, device="cpu",
            policy_kwargs=dict(net_arch=[128, 128]))
demonstrations(model, Yard(1), 70_000)
print("demonstrations in the buffer:", model.replay_buffer.size())
model.learn(10_000_000, callback=KeepAll(every=250), log_interval=4)
