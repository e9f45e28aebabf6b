"""PPO on CartPole with wide initial states."""
import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env

torch.set_num_threads(1)
env = make_vec_env("CartPole-v1", n_envs=4, seed=3)
evaluation = EvalCallback(make_vec_env("CartPole-v1", n_envs=1, seed=9), eval_freq=5000, n_eval_episodes=5, deterministic=True, verbose=1)
save = CheckpointCallback(8000, "ckpts", name_prefix="ppo")
model = PPO("MlpPolicy", env, n_steps=512, batch_size=128, n_epochs=8, learning_rate=1e-4, verbose=1, seed=0, device="cpu")
model.learn(2_000_000, callback=[evaluation, save])
