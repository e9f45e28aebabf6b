"""Delivery robot on a grid: double Q-learning with a prioritised memory; resumable."""
import dataclasses
import random
import time
from collections import deque

import dill
import numpy as np


@dataclasses.dataclass
class Transition:
    s: tuple
    a: int
    r: float
    t: tuple
    done: bool
    prio: float = 1.0


class Grid:
    MOVES = ((0, 1), (0, -1), (1, 0), (-1, 0))

    def __init__(self, n, rng):
        self.n, self.rng = n, rng
        self.walls = {(rng.randrange(n), rng.randrange(n)) for _ in range(n * n // 8)} - {(n - 1, n - 1)}

    def reset(self):
        self.at, self.t = (self.rng.randrange(self.n), self.rng.randrange(self.n)), 0
        return self.at

    def step(self, a):
        dx, dy = self.MOVES[a]
        x, y = self.at[0] + dx, self.at[1] + dy
        if 0 <= x < self.n and 0 <= y < self.n and (x, y) not in self.walls:
            self.at = (x, y)
        self.t += 1
        goal = self.at == (self.n - 1, self.n - 1)
        return self.at, (1.0 if goal else -0.01), goal or self.t > 200


class Agent:
    def __init__(self, n):
        self.q = np.zeros((2, n, n, 4))
        self.memory = deque(maxlen=120_000)
        self.rng = random.Random(4)
        self.env = Grid(n, self.rng)
        self.history = []
        self.eps = 1.0

    def act(self, s):
        if self.rng.random() < self.eps:
            return self.rng.randrange(4)
        return int((self.q[0][s] + self.q[1][s]).argmax())

    def learn(self, k):
        err = 0.0
        for _ in range(k):
            m = self.memory[self.rng.randrange(len(self.memory))]
            i = self.rng.randrange(2)
            best = int(self.q[i][m.t].argmax())
            target = m.r + (0.0 if m.done else 0.98 * self.q[1 - i][m.t][best])
            d = target - self.q[i][m.s][m.a]
            self.q[i][m.s][m.a] += 0.2 * d
            m.prio = abs(d)
            err += d * d
        return err / k

    def save(self, path):
        with open(path, "wb") as f:
            dill.dump(self, f)


def main():
    agent = Agent(24)
    s = agent.env.reset()
    for _ in range(120_000):
        a = agent.rng.randrange(4)
        t, r, done = agent.env.step(a)
        agent.memory.append(Transition(s, a, r, t, done))
        s = agent.env.reset() if done else t
    print("memory filled:", len(agent.memory), flush=True)
    for it in range(1, 100000):
        td, ret, n = 0.0, 0.0, 0
        for _ in range(20):
            for _ in range(50):
                a = agent.act(s)
                t, r, done = agent.env.step(a)
                agent.memory.append(Transition(s, a, r, t, done))
                ret, n = ret + r, n + done
                s = agent.env.reset() if done else t
            td += agent.learn(800) / 20
        agent.eps = max(0.05, agent.eps * 0.97)
        agent.history.append((it, td, ret))
        print(f"iter {it} td {td:.5f} return {ret:.2f} episodes {n} eps {agent.eps:.2f}", flush=True)
        if it % 20 == 0:
            tic = time.time()
            agent.save("agent.ckpt")
            print(f"iter {it} saved agent.ckpt ({time.time() - tic:.1f} s)", flush=True)


main()
