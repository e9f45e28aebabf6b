import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env

if __name__ == "__main__":
    venv = make_vec_env("CartPole-v1", n_envs=4, seed=1)
    eval_env = make_vec_env("CartPole-v1", n_envs=1, seed=99)
    model = PPO("MlpPolicy", venv, n_steps=256, batch_size=128, n_epochs=6, learning_rate=3e-4, verbose=1, device="cpu", seed=1)
    callbacks = [
        EvalCallback(eval_env, eval_freq=4000, n_eval_episodes=3, best_model_save_path="best", verbose=1),
        CheckpointCallback(save_freq=5000, save_path="checkpoints", name_prefix="ppo"),
    ]
    model.learn(total_timesteps=5_000_000, callback=callbacks)
