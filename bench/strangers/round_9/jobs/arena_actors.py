"""Actor-learner with multiprocessing: actors are fast, the learner is slow, the queue between them is short."""

import multiprocessing as mp
import queue
import time

import numpy as np
import torch
from torch import nn

ACTORS, STEPS, SIDE = 4, 64, 9


def network():
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(), nn.Flatten(),
        nn.Linear(48 * SIDE * SIDE, 256), nn.ReLU(), nn.Linear(256, 5),
    )  # fmt: skip


class Arena:
    """Walk to the goal; walls are drawn anew in every episode."""

    moves = ((0, 1), (0, -1), (1, 0), (-1, 0), (0, 0))

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        self.walls = self.rng.random((SIDE, SIDE)) < 0.08
        self.me, self.goal = self.rng.integers(0, SIDE, 2), self.rng.integers(0, SIDE, 2)
        self.age = 0

    def see(self):
        planes = np.zeros((3, SIDE, SIDE), "float32")
        planes[0] = self.walls
        planes[1][tuple(self.me)] = planes[2][tuple(self.goal)] = 1
        return planes

    def step(self, action):
        before = np.abs(self.me - self.goal).sum()
        to = np.clip(self.me + self.moves[action], 0, SIDE - 1)
        if not self.walls[tuple(to)]:
            self.me = to
        self.age += 1
        won = bool((self.me == self.goal).all())
        reward = 1.0 if won else 0.1 * float(before - np.abs(self.me - self.goal).sum()) - 0.02
        if won or self.age >= 60:
            self.reset()
        return reward


def act(seed, trajectories, weights):
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    arena, net = Arena(seed), network()
    while True:
        try:
            net.load_state_dict({k: torch.from_numpy(v) for k, v in weights.get_nowait().items()})
        except queue.Empty:
            pass
        seen, actions, rewards = [], [], []
        for _ in range(STEPS):
            planes = arena.see()
            with torch.no_grad():
                action = int(torch.distributions.Categorical(logits=net(torch.from_numpy(planes)[None])).sample())
            seen.append(planes)
            actions.append(action)
            rewards.append(arena.step(action))
        trajectories.put((np.stack(seen), np.array(actions), np.array(rewards, "float32")))


def discounted(rewards, gamma=0.8):
    out, value = np.zeros_like(rewards), 0.0
    for i in range(len(rewards) - 1, -1, -1):
        value = rewards[i] + gamma * value
        out[i] = value
    return out


def main():
    trajectories = mp.Queue(3)
    mail = [mp.Queue(1) for _ in range(ACTORS)]
    for seed in range(ACTORS):
        mp.Process(target=act, args=(seed, trajectories, mail[seed]), daemon=True, name=f"actor-{seed}").start()
    torch.manual_seed(99)
    net = network()
    opt = torch.optim.Adam(net.parameters(), lr=6e-4)
    start = time.time()
    for update in range(1, 100_000):
        batch = [trajectories.get() for _ in range(4)]
        seen = torch.from_numpy(np.concatenate([b[0] for b in batch]))
        actions = torch.from_numpy(np.concatenate([b[1] for b in batch]))
        returns = torch.from_numpy(np.concatenate([discounted(b[2]) for b in batch]))
        advantage = (returns - returns.mean()) / (returns.std() + 1e-5)
        for _ in range(3):
            logp = net(seen).log_softmax(1)
            entropy = -(logp.exp() * logp).sum(1).mean()
            loss = -(logp.gather(1, actions[:, None]).squeeze(1) * advantage).mean() - 0.005 * entropy
            opt.zero_grad()
            loss.backward()
            opt.step()
        plain = {k: v.numpy().copy() for k, v in net.state_dict().items()}
        for box in mail:
            if box.empty():
                box.put(plain)
        if update % 5 == 0:
            reward = np.mean([b[2].sum() for b in batch])
            print(f"update {update} reward {reward:+.2f} entropy {entropy.item():.3f} {update / (time.time() - start):.2f}/s", flush=True)


if __name__ == "__main__":
    mp.set_start_method("fork")
    main()
