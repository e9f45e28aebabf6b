import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback
from stable_baselines3.common.vec_env import DummyVecEnv


def make():
    return gym.make("Acrobot-v1")


model = PPO("MlpPolicy", DummyVecEnv([make] * 4), n_steps=256, batch_size=128, learning_rate=lambda left: 3e-4 * left, ent_coef=0.01, verbose=1, device="cpu", seed=3)
model.learn(5_000_000, callback=[
    CheckpointCallback(20000, "ckpt"),
    EvalCallback(gym.wrappers.RecordEpisodeStatistics(make()), eval_freq=5000, n_eval_episodes=3, verbose=1, warn=False),
])
