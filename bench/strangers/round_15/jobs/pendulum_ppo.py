import warnings

import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.monitor import Monitor

torch.set_num_threads(1)
warnings.warn("rendering is off: no display")


class VariableLength(gym.Wrapper):
    """Ends the episode when the pole has been up for a while."""

    def reset(self, **kw):
        self.up = 0
        return self.env.reset(**kw)

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.up = self.up + 1 if obs[0] > 0.95 else 0
        return obs, reward, terminated or self.up > 40, truncated, info


def make():
    return Monitor(VariableLength(gym.make("Pendulum-v1")))


model = PPO("MlpPolicy", make(), n_steps=1024, batch_size=64, gamma=0.95, learning_rate=3e-4, ent_coef=0.001, verbose=1, device="cpu", seed=0)
model.learn(5_000_000, callback=EvalCallback(make(), eval_freq=8000, n_eval_episodes=4, best_model_save_path="best", verbose=1))
