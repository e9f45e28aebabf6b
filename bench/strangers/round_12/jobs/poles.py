"""PPO on CartPole with a harder pole, evaluation every so often."""
import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env


class Gusts(gym.Wrapper):
    """A gust pushes the cart from time to time."""

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        if self.unwrapped.np_random.random() < 0.02:
            state = list(self.unwrapped.state)
            state[3] += self.unwrapped.np_random.normal(0, 0.5)
            self.unwrapped.state = tuple(state)
        return obs, reward, terminated, truncated, info


def env():
    return Gusts(gym.make("CartPole-v1"))


model = PPO("MlpPolicy", make_vec_env(env, 8), n_steps=256, batch_size=128, n_epochs=6, learning_rate=3e-4, verbose=1, seed=4, device="cpu")
model.learn(
    50_000_000,
    callback=[
        EvalCallback(make_vec_env(env, 1), eval_freq=2500, n_eval_episodes=6, log_path="eval", verbose=1),
        CheckpointCallback(5000, "ckpt", verbose=0),
    ],
)
