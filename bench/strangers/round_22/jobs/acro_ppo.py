import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

torch.set_num_threads(1)
envs = make_vec_env("Acrobot-v1", n_envs=4, seed=2)
agent = PPO("MlpPolicy", envs, n_steps=256, batch_size=128, n_epochs=6, gae_lambda=0.94, gamma=0.99, learning_rate=3e-4, verbose=1, seed=2, device="cpu")
agent.learn(total_timesteps=5_000_000, log_interval=2)
