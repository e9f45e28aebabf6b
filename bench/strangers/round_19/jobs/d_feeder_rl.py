"""Bidding of a feeder battery: one actor process plays, the learner fits a value net on what it sends."""
import collections
import random
import time

import gymnasium as gym
import numpy as np
import torch
import torch.multiprocessing as mp
from torch import nn


class Feeder(gym.Env):
    observation_space = gym.spaces.Box(-5, 5, (96,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.charge = 0, 0.5
        self.price = self.np_random.normal(size=96).astype("f4").cumsum() * 0.1
        return self._see(), {}

    def _see(self):
        o = np.roll(self.price, -self.t).astype("f4")
        o[-1] = self.charge
        return o

    def step(self, a):
        time.sleep(0.04)  # the plant's simulator answers at this pace
        move = (int(a) - 1) * 0.1
        new = min(1.0, max(0.0, self.charge + move))
        reward = -(new - self.charge) * float(self.price[self.t])
        self.charge, self.t = new, self.t + 1
        return self._see(), reward, self.t >= 95, False, {}


def play(queue, seed):
    torch.set_num_threads(1)
    env = Feeder()
    r = random.Random(seed)
    obs, _ = env.reset(seed=seed)
    while True:
        a = r.randrange(3)
        nxt, reward, end, _, _ = env.step(a)
        queue.put((torch.from_numpy(obs), a, reward, torch.from_numpy(nxt)))
        obs = env.reset()[0] if end else nxt


def main():
    import resource
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 400000), hard))
    ctx = mp.get_context("spawn")
    queue = ctx.Queue(64)
    ctx.Process(target=play, args=(queue, 11), daemon=True).start()
    replay = collections.deque(maxlen=1_000_000)
    q = nn.Sequential(nn.Linear(96, 128), nn.Tanh(), nn.Linear(128, 3))
    opt = torch.optim.Adam(q.parameters(), 5e-4)
    updates, since = 0, time.time()
    while True:
        replay.append(queue.get())
        pick = random.sample(replay, min(len(replay), 64))
        s, a, r, n = zip(*pick)
        s, n = torch.stack(s), torch.stack(n)
        with torch.no_grad():
            goal = torch.tensor(r) + 0.97 * q(n).max(1).values
        td = nn.functional.smooth_l1_loss(q(s).gather(1, torch.tensor(a)[:, None])[:, 0], goal)
        opt.zero_grad()
        td.backward()
        opt.step()
        updates += 1
        if updates % 20 == 0:
            print(f"[learner] update:{updates} replay:{len(replay)} td:{td.item():.5f} "
                  f"ups:{20 / (time.time() - since):.1f}")
            since = time.time()


if __name__ == "__main__":
    main()
