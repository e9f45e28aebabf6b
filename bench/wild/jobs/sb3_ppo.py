"""stable-baselines3: PPO on CartPole with environments in subprocesses."""

import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import SubprocVecEnv

if __name__ == "__main__":
    envs = SubprocVecEnv([lambda: gymnasium.make("CartPole-v1") for _ in range(3)], start_method="fork")
    PPO("MlpPolicy", envs, n_steps=128, batch_size=64, verbose=1, device="cpu").learn(10_000_000)
