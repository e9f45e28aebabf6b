from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env

if __name__ == "__main__":
    env = make_vec_env("Pendulum-v1", n_envs=4, seed=3)
    model = PPO("MlpPolicy", env, n_steps=256, batch_size=128, gamma=0.9, gae_lambda=0.95, learning_rate=1e-3, use_sde=True,
                sde_sample_freq=4, verbose=1, seed=3, device="cpu")
    model.learn(5_000_000, callback=[EvalCallback(make_vec_env("Pendulum-v1"), eval_freq=2000, n_eval_episodes=5),
                                     CheckpointCallback(5000, "zips")])
