"""A goalkeeper learns to be where the ball crosses the line."""
import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env


class Keeper(gym.Env):
    observation_space = gym.spaces.Box(-5, 5, (6,), np.float32)
    action_space = gym.spaces.Box(-1, 1, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.ball = np.array([self.np_random.uniform(-2, 2), 4.0])
        aim = self.np_random.uniform(-1.8, 1.8)
        self.v = np.array([aim - self.ball[0], -4.0]) / self.np_random.integers(14, 34)
        self.curl = self.np_random.normal(0, 0.004)
        self.x, self.u = self.np_random.uniform(-0.5, 0.5), 0.0
        return self.obs(), {}

    def obs(self):
        return np.array([*self.ball, *(self.v * 10), self.x, self.u * 10], np.float32).clip(-5, 5)

    def step(self, action):
        self.u = 0.8 * self.u + 0.05 * float(action[0])
        self.x += self.u
        self.v[0] += self.curl
        self.ball = self.ball + self.v
        if self.ball[1] > 0:
            return self.obs(), -0.002 * float(action[0] ** 2), False, False, {}
        miss = abs(self.ball[0] - self.x)
        return self.obs(), (5.0 if miss < 0.3 else -miss), True, False, {}


if __name__ == "__main__":
    torch.set_num_threads(1)
    env = make_vec_env(Keeper, 4, seed=3)
    model = PPO("MlpPolicy", env, n_steps=512, batch_size=256, learning_rate=1e-4, verbose=1, seed=3, device="cpu")
    model.learn(3_000_000, callback=[
        EvalCallback(make_vec_env(Keeper, 1, seed=9), eval_freq=5000, n_eval_episodes=60, log_path="eval", best_model_save_path="best"),
        CheckpointCallback(6000, "snapshots", verbose=1),
    ])
