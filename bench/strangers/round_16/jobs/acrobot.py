"""PPO on Acrobot, stable-baselines3."""
import warnings

import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env

warnings.filterwarnings("default")
torch.set_num_threads(1)

env = make_vec_env("Acrobot-v1", n_envs=4, seed=3)
model = PPO("MlpPolicy", env, n_steps=256, batch_size=64, n_epochs=6, ent_coef=0.01, verbose=1, seed=3, device="cpu")
callbacks = [
    EvalCallback(gym.make("Acrobot-v1"), eval_freq=4096, n_eval_episodes=3, verbose=1, warn=False, best_model_save_path="best"),
    CheckpointCallback(save_freq=5000, save_path="ckpt", name_prefix="acrobot"),
]
model.learn(total_timesteps=20_000_000, callback=callbacks, log_interval=1)
