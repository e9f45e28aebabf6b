import argparse

import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env

p = argparse.ArgumentParser()
p.add_argument("--env", default="Acrobot-v1")
p.add_argument("--steps", type=int, default=3_000_000)
a = p.parse_args()

venv = make_vec_env(a.env, n_envs=4, seed=1)
model = PPO("MlpPolicy", venv, n_steps=256, batch_size=128, gamma=0.99, gae_lambda=0.94, n_epochs=4, verbose=1, device="cpu", seed=1)
model.learn(
    a.steps,
    callback=[
        EvalCallback(gym.make(a.env), eval_freq=5000, n_eval_episodes=5, best_model_save_path="best"),
        CheckpointCallback(10000, "ckpts"),
    ],
)
