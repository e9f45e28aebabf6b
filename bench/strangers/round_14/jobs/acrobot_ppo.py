import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import EvalCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.monitor import Monitor

env = make_vec_env("Acrobot-v1", n_envs=4, seed=3)
evaluation = EvalCallback(Monitor(gym.make("Acrobot-v1")), n_eval_episodes=3, eval_freq=5000, best_model_save_path="best", log_path="eval")
model = PPO("MlpPolicy", env, n_steps=256, batch_size=64, n_epochs=4, gamma=0.99, ent_coef=0.01, verbose=1, device="cpu", seed=3)
model.learn(total_timesteps=20_000_000, callback=evaluation)
